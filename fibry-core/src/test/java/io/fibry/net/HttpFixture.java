package io.fibry.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;

/** A server with routes of a test, and a client of the JDK. */
abstract class HttpFixture {
  final ServerScope net = new ServerScope();
  final HttpClient client = HttpClient.newHttpClient();
  final LinkedBlockingQueue<AccessLogEntry> log = new LinkedBlockingQueue<>();
  HttpServer server;

  @AfterEach
  void close() {
    client.close();
    net.close();
  }

  void open(UnaryOperator<HttpRoutes> routes) {
    server = HttpServer.open(net.scope.anonymous(), 0, routes.apply(HttpRoutes.none()), o -> o.withAccessLog(log::add));
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path));
  }

  HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return client.send(request.build(), BodyHandlers.ofString());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
  }

  String call(String method, String path) {
    var response = send(request(path).method(method, BodyPublishers.noBody()));
    return (response.statusCode() + " " + response.body()).strip();
  }
}
