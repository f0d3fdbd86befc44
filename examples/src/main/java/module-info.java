/** Programs to read and to run. They are a separate module, so they see only the public API. */
module io.fibry.examples {
  requires io.fibry;
  requires io.fibry.cluster;
  requires io.fibry.durable;
  requires java.net.http;

  opens io.fibry.examples to io.fibry.durable; // its codecs write and read the records of the examples
}
