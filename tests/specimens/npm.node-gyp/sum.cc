#include <node.h>

static void Initialize(v8::Local<v8::Object> exports, v8::Local<v8::Value>, v8::Local<v8::Context> context) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  exports->Set(context, v8::String::NewFromUtf8Literal(isolate, "three"), v8::Number::New(isolate, 3)).Check();
}

NODE_MODULE_CONTEXT_AWARE(sum, Initialize)
