#!/usr/bin/env bash
# Makes kernels/ptx/search_*.ptx from search.cu, with the compiler library of CUDA 12.4 from PyPI, so that drivers since 550 take it. Needs Python 3 and
# the network, no GPU. Each file says the hash of the source it was made from, which a test compares.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
if [ ! -e "$work/nvrtc" ]; then
    python3 -m venv "$work/python"
    "$work/python/bin/pip" --quiet install --no-deps --target "$work/nvrtc" nvidia-cuda-nvrtc-cu12==12.4.127
fi
LD_LIBRARY_PATH="$work/nvrtc/nvidia/cuda_nvrtc/lib" python3 - "$here" <<'PYTHON'
import ctypes
import hashlib
import sys

here = sys.argv[1]
nvrtc = ctypes.CDLL("libnvrtc.so.12")
source = open(f"{here}/search.cu", "rb").read()
digest = hashlib.sha256(source).hexdigest()
for words in [1, 2, 3, 4, 6, 8, 12, 16]:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"search.cu", 0, None, None)
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_75", b"-DWORDS=%d" % words)
    failed = nvrtc.nvrtcCompileProgram(program, 2, options)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    print(log.value.decode(), end="")
    if failed:
        sys.exit(1)
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    lines = [line for line in text.value.decode().splitlines() if line.strip() and not line.startswith("//")]
    with open(f"{here}/ptx/search_{words}.ptx", "w") as out:
        out.write(f"// search.cu {digest}\n" + "\n".join(lines) + "\n")
PYTHON
