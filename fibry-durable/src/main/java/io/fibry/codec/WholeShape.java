package io.fibry.codec;

/** A type that its format writes as a whole. */
record WholeShape(Class<?> type, Object example) implements Shape {
  @Override
  public void write(Object value, ItemWriter out) {
    out.whole(type, value);
  }

  @Override
  public Object read(ItemReader in) {
    return in.whole(type);
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    write(example, sampler.out());
  }

  @Override
  public String text() {
    return type.getSimpleName();
  }
}
