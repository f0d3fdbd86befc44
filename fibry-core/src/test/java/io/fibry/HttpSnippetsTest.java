package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.AccessLogFormat;
import io.fibry.net.ErrorBody;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.stereotype.Stereotypes;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the snippets in the Javadoc of the HTTP server. */
class HttpSnippetsTest {
  private final HttpClient client = HttpClient.newHttpClient();

  private final List<Object> printed = new CopyOnWriteArrayList<>();

  private void print(Object line) {
    printed.add(line);
  }

  @TempDir
  Path web;

  private String get(HttpServer server, String path) throws Exception {
    return client.send(HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path)).build(),
        HttpResponse.BodyHandlers.ofString()).body();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void serverRespondsWithTextOfRoute() throws Exception {
    // @start region="server"
    var server = HttpServer.open(ActorSystem.named("web"), 0,
        HttpRoutes.none().text("/hello", exchange -> "Hello " + exchange.queryParameter("name").orElse("World")),
        options -> options);

    print("http://localhost:" + server.port() + "/hello?name=Ada");
    // @end
    assertEquals(printed, List.of("http://localhost:" + server.port() + "/hello?name=Ada"));
    assertEquals("Hello Ada", get(server, "/hello?name=Ada"));
    server.close();
  }

  @Test
  void statsHavePercentilesOfEachRoute() throws Exception {
    var server = Stereotypes.def().embeddedHttpServer(0, HttpRoutes.none().text("/hello", exchange -> "Hello"));
    get(server, "/hello");
    // @start region="percentile"
    for (var route : server.stats())
      print(route.route() + ": 99 of 100 within " + route.successTimes().percentile(0.99).toMillis() + " ms, "
          + route.responses().unavailable() + " refused");
    // @end
    assertEquals(2, printed.size());
    server.close();
  }

  @Test
  void routesRespondWithTextStreamAndFile() throws Exception {
    Files.writeString(web.resolve("index.html"), "<p>shop</p>");
    // @start region="routes"
    var orders = ActorSystem.named("orders").newActorWithReturn((String order) -> "ordered: " + order);
    var routes = HttpRoutes.none()
        // responds 503 if the mailbox is full, 504 if the answer is late
        .text("POST /orders", exchange -> orders.ask(exchange.bodyAsText()))
        .text("GET /orders/{id}", exchange -> "order " + exchange.path("id"))
        .stream("/count", exchange -> {
          for (int i = 0; i < 3; i++)
            exchange.outputStream().write(("line " + i + "\n").getBytes(StandardCharsets.UTF_8));
        })
        .files("/", web);
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes).closeOnExit(orders)) {
      assertEquals("order 7", get(server, "/orders/7"));
      assertEquals("line 0\nline 1\nline 2\n", get(server, "/count"));
      assertEquals("<p>shop</p>", get(server, "/"));
    }
  }

  record User(String name) {}

  @Test
  void mountedRoutesHaveFilterOfTheirOwn() throws Exception {
    // @start region="mount"
    var admin = HttpRoutes.none().text("GET /users", exchange -> "users, for " + exchange.attribute(User.class).get())
        .intercept((exchange, next) -> {
          if (exchange.header("X-Key").isEmpty()) throw new HttpException(401, "who are you?");
          exchange.attribute(User.class, new User("Ada"));
          next.run();
          exchange.header("Cache-Control", "no-store"); // the response is sent later
        });
    var routes = HttpRoutes.none().text("GET /", exchange -> "home").mount("/admin", admin)
        .withErrorBody(ErrorBody.problemDetails());
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes)) {
      assertEquals("home", get(server, "/"));
      assertEquals("{\"type\":\"about:blank\",\"title\":\"Unauthorized\",\"status\":401,\"detail\":"
          + "\"who are you?\",\"instance\":\"/admin/users\"}\n", get(server, "/admin/users"));
    }
  }

  static final class OutOfStockException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutOfStockException(String message) {
      super(message);
    }
  }

  @Test
  void clientGetsMessageOfMappedException() throws Exception {
    // @start region="onFailure"
    var routes = HttpRoutes.none().text("POST /orders", exchange -> {
      throw new OutOfStockException("only 1 of shoes left");
    }).onFailure(OutOfStockException.class, 409, failure -> failure.getMessage());
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes)) {
      var uri = URI.create("http://localhost:" + server.port() + "/orders");
      var response = client.send(HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.noBody()).build(),
          HttpResponse.BodyHandlers.ofString());
      assertEquals("409 only 1 of shoes left\n", response.statusCode() + " " + response.body());
    }
  }

  @Test
  void probeRespondsWithHealth() throws Exception {
    // @start region="probe"
    var routes = HttpRoutes.none().text("POST /orders", exchange -> "ordered").probe("GET /health", exchange -> "up");
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes, o -> o.withMaxExchanges(1))) {
      assertEquals("up", get(server, "/health"));
    }
  }

  @Test
  void handlerRespondsAccordingToQueryParameter() throws Exception {
    // @start region="exchange"
    var routes = HttpRoutes.none().text("GET /teapot", exchange -> {
      if (exchange.queryParameter("milk").isPresent()) throw new HttpException(400, "no milk in here");
      return exchange.status(418).header("Content-Type", "text/html; charset=utf-8").queryParameter("who")
          .map(who -> "<p>short and stout</p>").orElse("<p>who?</p>");
    });
    // @end
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes)) {
      assertEquals("<p>short and stout</p>", get(server, "/teapot?who=me"));
    }
  }

  @Test
  void accessLogGetsLineOfRequest() throws Exception {
    // @start region="accessLog"
    var format = AccessLogFormat.combined();
    var server = Stereotypes.def().embeddedHttpServer(0, HttpRoutes.none().text("/", exchange -> "Hello"),
        o -> o.withAccessLog(entry -> print(format.apply(entry)))); // print stands for your logger
    // @end
    assertEquals("Hello", get(server, "/?token=1"));
    server.close();
    assertEquals(1, printed.size());
    assertTrue(printed.getFirst().toString().contains("] \"GET / HTTP/1.1\" 200 "), printed::toString);
  }

  private String answerToPage(HttpServer server, String method, String path, String page, int bodyLength)
      throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
        .method(method, HttpRequest.BodyPublishers.ofByteArray(new byte[bodyLength])).header("Origin", page).build();
    var response = client.send(request, HttpResponse.BodyHandlers.ofString());
    return response.statusCode() + Stream.of("Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Vary")
        .map(name -> " " + response.headers().allValues(name)).collect(Collectors.joining());
  }

  @Test
  void pageOfOtherOriginMayCallServer() throws Exception {
    // @start region="cors"
    var pages = Set.of("https://shop.example"); // the pages that may call this server
    var routes = HttpRoutes.none().text("POST /orders", exchange -> "ordered " + exchange.bodyAsText());
    var server = Stereotypes.fibers().embeddedHttpServer(0, routes, o -> o.withResponseHeaders(request -> {
      var page = request.header("Origin").filter(pages::contains);
      return page.isEmpty() ? Map.of("Vary", "Origin") : Map.of("Vary", "Origin",
          "Access-Control-Allow-Origin", page.get(), "Access-Control-Allow-Methods", "GET, POST, PUT, DELETE",
          "Access-Control-Allow-Headers", "Authorization, Content-Type", "Access-Control-Max-Age", "600");
    }));
    // @end
    var granted = " [https://shop.example] [GET, POST, PUT, DELETE] [Origin]";
    assertEquals("204" + granted, answerToPage(server, "OPTIONS", "/orders", "https://shop.example", 0));
    assertEquals("200" + granted, answerToPage(server, "POST", "/orders", "https://shop.example", 3));
    assertEquals("404" + granted, answerToPage(server, "POST", "/none", "https://shop.example", 3));
    assertEquals("405" + granted, answerToPage(server, "PUT", "/orders", "https://shop.example", 3));
    assertEquals("413" + granted, answerToPage(server, "POST", "/orders", "https://shop.example", (1 << 20) + 1));
    assertEquals("204 [] [] [Origin]", answerToPage(server, "OPTIONS", "/orders", "https://evil.example", 0));
    server.close();
  }

  @Test
  void serverWithConfiguredLimitsResponds() throws Exception {
    // @start region="options"
    var server = Stereotypes.def().embeddedHttpServer(0, HttpRoutes.none().text("/", exchange -> "Hello"),
        o -> o.withMaxBody(10_000).withMaxExchanges(5_000).withHeaderLimit(Duration.ofMinutes(1)));
    // @end
    assertEquals("Hello", get(server, "/"));
    server.close();
  }

  @Test
  void serverWithSingleHandlerRespondsToAnyPath() throws Exception {
    try (var server = Stereotypes.def().embeddedHttpServer(0, exchange -> "Hello World!")) {
      assertEquals("Hello World!", get(server, "/any/path"));
    }
  }
}
