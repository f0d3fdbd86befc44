/** Programs to read and to run. A separate module, so they see what a user sees. */
module io.fibry.examples {
  requires io.fibry;
  requires io.fibry.cluster;
  requires io.fibry.durable;
  requires io.helidon.http;
  requires io.helidon.webserver;
  requires io.helidon.webserver.http2;
  requires java.logging;
  requires java.net.http;

  opens io.fibry.examples to io.fibry.durable; // it writes and reads our records
}
