package io.fibry.codec;

/** The format CBOR (RFC 8949). */
record CborFormat() implements Format {
  @Override
  public String name() {
    return "cbor";
  }

  @Override
  public ItemWriter newWriter() {
    return new CborWriter();
  }

  @Override
  public ItemReader newReader(byte[] bytes) {
    return new CborReader(bytes);
  }
}
