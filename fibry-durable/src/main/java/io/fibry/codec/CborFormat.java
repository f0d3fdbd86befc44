package io.fibry.codec;

/** The format CBOR (RFC 8949). */
record CborFormat() implements Format {
  private static final int INITIAL_BYTES = 128;
  private static final int MAX_INITIAL_BYTES = 128 << 10; // a small value may follow a large one

  @Override
  public String name() {
    return "cbor";
  }

  @Override
  public FormatWriter newWriter() {
    return newWriter(INITIAL_BYTES);
  }

  @Override
  public FormatWriter newWriter(int likelyBytes) {
    return new CborWriter(Math.min(likelyBytes, MAX_INITIAL_BYTES));
  }

  @Override
  public FormatReader newReader(byte[] bytes) {
    return new CborReader(bytes);
  }
}
