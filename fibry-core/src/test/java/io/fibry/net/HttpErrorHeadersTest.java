package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.MailboxFullException;
import io.fibry.testing.Promise;
import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which headers an error response has. */
class HttpErrorHeadersTest extends HttpFixture {
  @TempDir
  Path folder;

  private HttpRoutes routes(HttpRoutes none) {
    return none.text("/http", exchange -> {
      exchange.header("X-Handler", "yes");
      throw new HttpException(409, "twice");
    }).text("/rule", exchange -> {
      exchange.header("X-Handler", "yes").header("X-Before", "of the handler");
      throw new NoSuchElementException();
    }).text("/broken", exchange -> {
      exchange.header("X-Handler", "yes").header("Content-Encoding", "gzip");
      throw new IllegalStateException("planned");
    }).text("/full", exchange -> {
      throw new MailboxFullException("full", "a", "m", 1);
    }).text("/long", HttpExchange::bodyAsText).stream("/begun", exchange -> {
      exchange.header("X-Handler", "yes").outputStream().write('x');
      throw new IllegalStateException("planned");
    }).webSocket("/socket", connection -> {}).files("/files", folder)
        .onFailure(NoSuchElementException.class, failed -> failed.exchange().status(404).header("X-Rule", "yes").path())
        .onFailure(ArithmeticException.class, failed -> {
          failed.exchange().header("X-Rule", "yes");
          throw new IllegalStateException("the rule is broken");
        }).text("/badrule", exchange -> {
          throw new ArithmeticException();
        });
  }

  private void openWithCodeAround() {
    open(none -> routes(none).intercept((exchange, next) -> {
      exchange.header("X-Before", "1").header("Set-Cookie", "a=1").header("Set-Cookie", "b=2")
          .header("ETag", "\"1\"").header("Content-Disposition", "attachment");
      try {
        next.run();
      } finally {
        exchange.header("X-After", "2");
      }
    }).intercept((exchange, next) -> {
      exchange.header("X-Outer", "3");
      next.run();
    }));
  }

  @Promise("27.40")
  @ParameterizedTest
  @CsvSource({"/http, 409, X-Handler", "/rule, 404, X-Rule", "/broken, 500,", "/full, 503,", "/long, 413,",
    "/begun, 500,", "/socket, 426,", "/files/none, 404,", "/badrule, 500,"})
  void errorResponseKeepsHeadersOfCodeAroundRoute(String path, int status, String further) {
    openWithCodeAround();
    var request = request(path);
    if (path.equals("/long")) // the length is not announced, so the handler begins
      request.POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(new byte[(1 << 20) + 1])));

    var response = send(request);

    var headers = response.headers();
    assertEquals(status, response.statusCode());
    assertEquals("[1] [2] [3] [a=1, b=2]", headers.allValues("X-Before") + " " + headers.allValues("X-After") + " "
        + headers.allValues("X-Outer") + " " + headers.allValues("Set-Cookie"));
    var others = List.of("X-Handler", "X-Rule", "Content-Encoding");
    assertEquals(further == null ? List.of() : List.of(further),
        others.stream().filter(name -> headers.firstValue(name).isPresent()).toList());
    // an HttpException keeps all headers
    assertEquals(!path.equals("/http"), headers.firstValue("ETag").isEmpty());
    assertEquals(!path.equals("/http"), headers.firstValue("Content-Disposition").isEmpty());
  }

  @Promise("27.40")
  @Test
  void successResponseHasAllHeadersOfCodeAroundRoute() {
    open(none -> none.text("/", exchange -> exchange.header("X-Before", "of the handler").path())
        .intercept((exchange, next) -> {
          exchange.header("X-Before", "1").header("ETag", "\"1\"");
          next.run();
          exchange.header("X-After", "2");
        }));

    var headers = send(request("/")).headers();

    assertEquals("[of the handler] [\"1\"] [2]",
        headers.allValues("X-Before") + " " + headers.allValues("ETag") + " " + headers.allValues("X-After"));
  }

  @Test
  void errorBodySetsTypeDespiteTypeOfCodeAroundRoute() {
    open(none -> none.text("/", exchange -> {
      throw new IllegalStateException("planned");
    }).intercept((exchange, next) -> {
      exchange.header("Content-Type", "text/html").header("Date", "today");
      next.run();
    }).withErrorBody(ErrorBody.problemDetails()));

    var headers = send(request("/")).headers();

    assertEquals("[application/problem+json] [today]",
        headers.allValues("Content-Type") + " " + headers.allValues("Date"));
  }
}
