/* Written for GNU C of a time when functions needed no declaration. */
int total(const int *values, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) sum = add_checked(sum, values[i]);
  return sum;
}
