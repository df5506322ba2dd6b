extern "C" int half(int count) { return count / 2; }
