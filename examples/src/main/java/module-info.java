/** Programs to read and to run; a module of its own, so it sees what a user sees. */
module io.fibry.examples {
  requires io.fibry;
  requires java.net.http;
  requires robaho.httpserver;
}
