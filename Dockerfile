# docker build -t cyrano . && docker run --rm -v "$PWD:/code" cyrano check lock.rml --model tso
FROM rust:1-slim AS build
WORKDIR /cyrano
COPY . .
RUN cargo install --locked --path crates/cyrano --root /usr/local --profile dist

FROM debian:stable-slim
COPY --from=build /usr/local/bin/cyrano /usr/local/bin/cyrano
WORKDIR /code
ENTRYPOINT ["cyrano"]
