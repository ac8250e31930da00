//! Memory models to and from their place in a trace, so that a user-defined model travels with the trace.

use cyrano_ir::{Diagnostic, FenceSet};
use cyrano_memory::cat::Cat;
use cyrano_memory::{CasPairs, Control, Dependencies, Model, Reordering};

use crate::restore::TraceError;
use crate::schema::{DependencyInfo, ModelInfo};

const CONTROLS: [(Control, &str); 3] = [(Control::None, "none"), (Control::Stores, "stores"), (Control::All, "all")];

impl From<&Model> for ModelInfo {
    fn from(model: &Model) -> Self {
        let cat = model.cat().map(|cat| cat.source().to_owned());
        let kept = if cat.is_some() { &Reordering::RELAXED } else { model.reordering() };
        let control = CONTROLS.iter().find(|(control, _)| *control == kept.dependencies.control);
        let control = control.expect("every kind of control dependency has a name").1;
        Self {
            name: model.name.clone(),
            summary: model.summary.clone(),
            different: names(kept.different),
            same: names(kept.same),
            cas: kept.cas.map(|pairs| pairs.names().into_iter().map(str::to_owned).collect()),
            forwarding: kept.forwarding,
            dependencies: DependencyInfo {
                data: kept.dependencies.data,
                address: kept.dependencies.address,
                control: control.to_owned(),
            },
            serial: kept.serial,
            own_order: kept.own_order,
            cat,
        }
    }
}

impl TryFrom<&ModelInfo> for Model {
    type Error = TraceError;

    fn try_from(info: &ModelInfo) -> Result<Self, TraceError> {
        if let Some(text) = &info.cat {
            let wrong = |errors: Vec<Diagnostic>| format!("its model is no model: {}", errors[0].message);
            let cat = Cat::parse(text).map_err(|errors| TraceError::new(wrong(errors)))?;
            return Ok(Self::from_cat(&info.name, &info.summary, cat));
        }
        let control = CONTROLS.iter().find(|(_, name)| *name == info.dependencies.control);
        let (control, _) = control.ok_or_else(|| {
            TraceError::new(format!("`{}` is not a kind of control dependency", info.dependencies.control))
        })?;
        let same = kinds(&info.same)?;
        if !info.own_order && !same.contains(FenceSet::LS | FenceSet::SS) {
            return Err(TraceError::new("its model does not keep load-store and store-store to the same address"));
        }
        let names = info.cas.as_ref().map(|names| names.iter().map(String::as_str));
        let cas = names.map(CasPairs::from_names).transpose();
        let parameters = Reordering {
            different: kinds(&info.different)?,
            same,
            cas: cas.map_err(|name| TraceError::new(format!("`{name}` is not a pair with a `cas`")))?,
            forwarding: info.forwarding,
            dependencies: Dependencies {
                data: info.dependencies.data,
                address: info.dependencies.address,
                control: *control,
            },
            serial: info.serial,
            own_order: info.own_order,
        };
        Ok(Self::new(&info.name, &info.summary, parameters))
    }
}

fn names(set: FenceSet) -> Vec<String> {
    let kinds = FenceSet::KINDS.into_iter().filter(|(kind, _)| set.contains(*kind));
    kinds.map(|(_, name)| name.to_owned()).collect()
}

fn kinds(names: &[String]) -> Result<FenceSet, TraceError> {
    let mut set = FenceSet::NONE;
    for name in names {
        let kind = FenceSet::from_name(name);
        set |= kind.ok_or_else(|| TraceError::new(format!("`{name}` is not a pair of accesses")))?;
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_survives_the_round_trip() {
        let own = cyrano_memory::file::parse("model m\nkeep cas: cas-load, load-cas\n", "m").expect("a model");
        for model in cyrano_memory::all().into_iter().chain(cyrano_memory::relational()).chain([own]) {
            let info = ModelInfo::from(&model);
            assert_eq!(Model::try_from(&info).ok(), Some(model));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let sc = ModelInfo::from(&cyrano_memory::named("sc").expect("sc is a model"));
        let mut bad = sc.clone();
        bad.different.push("store-laod".into());
        assert!(Model::try_from(&bad).is_err());
        let mut bad = sc.clone();
        bad.cas = Some(vec!["cas-laod".into()]);
        assert!(Model::try_from(&bad).is_err());
        let mut bad = sc.clone();
        bad.dependencies.control = "some".into();
        assert!(Model::try_from(&bad).is_err());
        let mut bad = sc;
        bad.same.clear();
        assert!(Model::try_from(&bad).is_err());
    }
}
