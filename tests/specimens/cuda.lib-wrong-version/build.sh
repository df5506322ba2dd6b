# An extension module with its own libnvJitLink beside it, and an older one in the toolkit's folder.
mkdir -p own toolkit/lib64
printf 'int __nvJitLinkAddData_12_1(void) { return 0; }\n' > older.c
printf 'int __nvJitLinkAddData_12_1(void) { return 0; }\nint __nvJitLinkComplete_12_4(void) { return 0; }\n' > newer.c
gcc -shared -fPIC -Wl,-soname,libnvJitLink.so.12 older.c -o toolkit/lib64/libnvJitLink.so.12
gcc -shared -fPIC -Wl,-soname,libnvJitLink.so.12 newer.c -o own/libnvJitLink.so.12
cat > kernels.c <<'C'
#include <Python.h>
int __nvJitLinkComplete_12_4(void);
static PyObject *linked(PyObject *self, PyObject *none) { return PyLong_FromLong(__nvJitLinkComplete_12_4()); }
static PyMethodDef methods[] = {{"linked", linked, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "kernels", "", -1, methods};
PyMODINIT_FUNC PyInit_kernels(void) { return PyModule_Create(&module); }
C
gcc -shared -fPIC $(python -c 'import sysconfig; print("-I" + sysconfig.get_path("include"))') kernels.c own/libnvJitLink.so.12 -Wl,-z,now -Wl,--enable-new-dtags,-rpath,"$PWD/own" -o kernels.so
