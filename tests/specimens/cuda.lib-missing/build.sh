# A toolkit in a folder of its own, and an extension module that was built against it.
mkdir -p toolkit/lib64
printf 'int cudaGetDeviceCount(int *n) { *n = 0; return 0; }\n' > cudart.c
gcc -shared -fPIC -Wl,-soname,libcudart.so.12 cudart.c -o toolkit/lib64/libcudart.so.12
cat > kernels.c <<'C'
#include <Python.h>
int cudaGetDeviceCount(int *);
static PyObject *count(PyObject *self, PyObject *none) { int n = -1; cudaGetDeviceCount(&n); return PyLong_FromLong(n); }
static PyMethodDef methods[] = {{"count", count, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "kernels", "", -1, methods};
PyMODINIT_FUNC PyInit_kernels(void) { return PyModule_Create(&module); }
C
gcc -shared -fPIC $(python -c 'import sysconfig; print("-I" + sysconfig.get_path("include"))') kernels.c toolkit/lib64/libcudart.so.12 -o kernels.so
