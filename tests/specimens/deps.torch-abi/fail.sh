# The extension was built for a torch with the older C++ ABI (before 2.7, from PyPI).
set -e
libraries="$(python -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0] + "/lib")')"
g++ -std=c++17 -O1 -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=0 ops.cpp -o ops.so -L"$libraries" -lc10
python train.py
