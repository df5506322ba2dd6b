# Built beside the torch that is installed.
set -e
libraries="$(python -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0] + "/lib")')"
g++ -shared -fPIC ops.cpp -o ops.so -L"$libraries" -lc10
python train.py
