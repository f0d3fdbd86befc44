package io.fibry.codec;

import java.util.function.Consumer;

/** The shape of a type whose values the format itself writes and reads as a whole. */
record OpaqueShape(Class<?> type, Object example) implements Shape {
  @Override
  public void write(Object value, FormatWriter out) {
    out.whole(type, value);
  }

  @Override
  public Object read(FormatReader in, Consumer<String> unknown) {
    return in.whole(type, unknown);
  }

  @Override
  public void sample(Sampler sampler, int levels) {
    write(example, sampler.out());
  }

  @Override
  public String schemaText() {
    return type.getSimpleName();
  }
}
