package io.fibry.codec;

/** The format CBOR (RFC 8949). */
record CborFormat() implements Format {
  @Override
  public String name() {
    return "cbor";
  }

  @Override
  public FormatWriter newWriter() {
    return new CborWriter();
  }

  @Override
  public FormatReader newReader(byte[] bytes) {
    return new CborReader(bytes);
  }
}
