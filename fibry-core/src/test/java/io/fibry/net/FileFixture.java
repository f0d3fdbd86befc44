package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A server for the files of a folder, with a file of ten digits that has not changed for years. */
abstract class FileFixture {
  static final String MODIFIED = "Thu, 02 Jan 2020 03:04:05 GMT";
  private static final Instant MODIFICATION_TIME = Instant.parse("2020-01-02T03:04:05.678Z");

  final ServerScope net = new ServerScope();
  HttpServer server;

  @TempDir
  Path folder;

  Path digits;

  @BeforeEach
  void writeDigits() throws IOException {
    digits = Files.writeString(folder.resolve("digits.txt"), "0123456789");
    setModified(MODIFICATION_TIME);
    open(routes -> routes);
  }

  @AfterEach
  void close() {
    net.close();
  }

  void open(UnaryOperator<HttpRoutes> routes) {
    server = HttpServer.open(net.scope.anonymous(), 0, routes.apply(HttpRoutes.none().files("/", folder)), o -> o);
  }

  void setModified(Instant time) throws IOException {
    Files.setLastModifiedTime(digits, FileTime.from(time));
  }

  static String request(String method, String path, String... headers) {
    var request = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: a\r\n");
    for (var header : headers) request.append(header).append("\r\n");
    return request.append("\r\n").toString();
  }

  /** Sends a request on a new connection. */
  String send(String method, String path, String... headers) throws IOException {
    return RawClient.sendAndReadAll(server.port(),
        request(method, path, headers).replaceFirst("\r\n", "\r\nConnection: close\r\n"));
  }

  String get(String... headers) throws IOException {
    return send("GET", "/digits.txt", headers);
  }

  /** Returns the entity tag of the ten digits. */
  String tag() throws IOException {
    return header(get(), "ETag");
  }

  /** Returns the value of a header; "none" if the response does not have the header. */
  static String header(String response, String name) {
    var matcher = Pattern.compile("\r\n" + name + ": ([^\r]*)\r\n").matcher(response);
    return matcher.find() ? matcher.group(1) : "none";
  }

  static String body(String response) {
    int headEnd = response.indexOf("\r\n\r\n");
    assertTrue(headEnd > 0, response);
    return response.substring(headEnd + 4);
  }

  static String head(String response) {
    return response.substring(0, response.length() - body(response).length()).replaceFirst("\r\nDate: [^\r]*", "");
  }

  /** Returns the status and the body, such as {@code 200 0123456789}. */
  static String codeAndBody(String response) {
    return (RawClient.codes(response) + " " + body(response)).strip();
  }

  static String latin1(byte[] bytes, int start, int end) {
    return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
  }
}
