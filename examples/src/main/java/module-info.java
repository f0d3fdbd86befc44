/** Programs to read and to run. A separate module, so they see what a user sees. */
module io.fibry.examples {
  requires io.fibry;
  requires java.net.http;
  requires robaho.httpserver;
}
