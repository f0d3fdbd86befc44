package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that only files below the root are served. */
class HttpFilesTest {
  private final ActorScope scope = ActorSystem.openScope("files", o -> o);
  private HttpServer server;

  @TempDir
  Path folder;

  @BeforeEach
  void open() throws IOException {
    var root = Files.createDirectories(folder.resolve("web/sub/deep")).getParent().getParent();
    Files.writeString(folder.resolve("secret.txt"), "secret");
    Files.createDirectory(folder.resolve("web-other"));
    Files.writeString(folder.resolve("web-other/secret.txt"), "secret");
    Files.writeString(root.resolve("index.html"), "<p>root</p>");
    Files.writeString(root.resolve("a b\u00e4.TXT"), "named");
    Files.writeString(root.resolve("sub/index.html"), "<p>sub</p>");
    Files.writeString(root.resolve("sub/x.unheard"), "x");
    Files.writeString(root.resolve("empty.css"), "");
    Files.writeString(root.resolve(".hidden"), "secret");
    Files.writeString(Files.createDirectory(root.resolve(".git")).resolve("config"), "secret");
    Files.createSymbolicLink(root.resolve("out"), folder);
    Files.createSymbolicLink(root.resolve("out.txt"), folder.resolve("secret.txt"));
    Files.createSymbolicLink(root.resolve("in.css"), root.resolve("empty.css"));
    Files.createSymbolicLink(root.resolve("hidden.txt"), root.resolve(".hidden"));
    Files.createSymbolicLink(root.resolve("git"), root.resolve(".git"));
    Files.createSymbolicLink(root.resolve("config.txt"), root.resolve(".git/config"));
    Files.createSymbolicLink(root.resolve("sub/deep/index.html"), root.resolve(".hidden"));
    Files.createSymbolicLink(root.resolve("loop"), root.resolve("loop"));
    var link = Files.createSymbolicLink(folder.resolve("link"), root);
    server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().files("/", link).files("/static", root), o -> o);
  }

  @AfterEach
  void close() {
    scope.close();
  }

  private String get(String path) throws IOException {
    return RawClient.sendAndReadAll(server.port(), RawClient.get(path));
  }

  @ParameterizedTest
  @CsvSource({"/, text/html; charset=utf-8, <p>root</p>", "/index.html, text/html; charset=utf-8, <p>root</p>",
    "/sub/, text/html; charset=utf-8, <p>sub</p>", "/a%20b%C3%A4.TXT, text/plain; charset=utf-8, named",
    "/static/sub/x.unheard, application/octet-stream, x", "/empty.css, text/css; charset=utf-8, ''",
    "/in.css, text/css; charset=utf-8, ''", "/static/, text/html; charset=utf-8, <p>root</p>"})
  void fileIsSentWithItsTypeAndLength(String path, String type, String body) throws IOException {
    var response = get(path);

    assertTrue(response.startsWith("HTTP/1.1 200 ") && response.endsWith("\r\n\r\n" + body), response);
    for (var header : new String[] {"Content-Type: " + type, "Content-Length: " + body.length(),
      "X-Content-Type-Options: nosniff", "Last-Modified: "}) assertTrue(response.contains("\r\n" + header), response);
  }

  @Promise("27.9")
  @ParameterizedTest
  @ValueSource(strings = {"/none", "/none/", "/.hidden", "/.git/config", "/.git/", "/sub/../.hidden", "/out.txt",
    "/out/secret.txt", "/out/", "/out", "/hidden.txt", "/git/config", "/git/", "/git", "/config.txt", "/loop",
    "/sub/deep/", "/index.html/", "/index.html/x", "/static/../secret.txt",
    "/..%c0%af", "/%2e%2e/secret.txt", "/../secret.txt", "/sub/../../secret.txt", "/%2e%2e%2fsecret.txt",
    "/..%5csecret.txt", "/..\\secret.txt", "//..//secret.txt", "/static/%2e%2e/%2e%2e/secret.txt",
    "/static/../web-other/secret.txt",
    "/%00", "/index.html%00.txt", "/.%2e/secret.txt", "/....//secret.txt", "/..;/secret.txt", "/%252e%252e/secret.txt",
    "/sub%2f..%2f..%2fsecret.txt", "/file:/etc/passwd", "//etc/passwd", "/~root", "/C:/x"})
  void hiddenOrOutsideFileIsNotServed(String path) throws IOException {
    var response = get(path);

    assertTrue(response.startsWith("HTTP/1.1 404 ") || response.startsWith("HTTP/1.1 400 "), response);
    assertFalse(response.contains("secret"), response);
  }

  @Test
  void rootMayBeInHiddenFolder() throws IOException {
    var root = Files.createDirectories(folder.resolve(".web/root"));
    Files.writeString(root.resolve("index.html"), "shown");
    try (var otherServer = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().files("/", root), o -> o)) {
      assertTrue(RawClient.sendAndReadAll(otherServer.port(), RawClient.get("/")).endsWith("\r\n\r\nshown"));
    }
  }

  @Test
  void folderPathWithoutSlashIsRedirectedToPathWithSlash() throws IOException {
    Files.writeString(Files.createDirectory(folder.resolve("web/\u00e4 x")).resolve("index.html"), "deep");

    assertTrue(get("/sub").startsWith("HTTP/1.1 301 ") && get("/sub").contains("\r\nLocation: /sub/\r\n"));
    assertTrue(get("/static").contains("\r\nLocation: /static/\r\n"));
    // the path is redirected to "sub" on this server, not to a host "sub"
    assertTrue(get("//sub").contains("\r\nLocation: /sub/\r\n"));
    assertTrue(get("/%c3%a4%20x").contains("\r\nLocation: /%C3%A4%20x/\r\n"));
    assertTrue(get("/sub?a=1&b=%26+x&a=2").contains("\r\nLocation: /sub/?a=1&a=2&b=%26%20x\r\n"));
  }

  @Test
  void unchangedFileIsNotSentAgain() throws IOException {
    Files.setLastModifiedTime(folder.resolve("web/index.html"),
        FileTime.from(Instant.parse("2026-01-02T03:04:05.678Z")));

    assertTrue(get("/").contains("\r\nLast-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"));
    assertEquals("304", codeIfModifiedSince("Fri, 02 Jan 2026 03:04:05 GMT"));
    assertEquals("200", codeIfModifiedSince("Fri, 02 Jan 2026 03:04:04 GMT"));
    assertEquals("200", codeIfModifiedSince("yesterday"));
  }

  private String codeIfModifiedSince(String date) throws IOException {
    var response = RawClient.sendAndReadAll(server.port(),
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nIf-Modified-Since: " + date + "\r\n\r\n");
    assertEquals(response.startsWith("HTTP/1.1 200"), response.endsWith("root</p>"), response);
    return RawClient.codes(response);
  }

  @Test
  void fileRouteAllowsHeadAndRefusesPost() throws IOException {
    var head = RawClient.sendAndReadAll(server.port(), "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    var post = RawClient.sendAndReadAll(server.port(), "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

    assertTrue(head.contains("\r\nContent-Length: 11\r\n") && head.endsWith("\r\n\r\n"), head);
    assertTrue(post.startsWith("HTTP/1.1 405 ") && post.contains("\r\nAllow: GET, HEAD, OPTIONS\r\n"), post);
  }

  @Test
  void responseWithLongFileIsCompleteUnlessFileShrinks() throws IOException {
    var file = folder.resolve("web/long.bin");
    Files.write(file, new byte[16 << 20]);
    assertEquals(16 << 20, bodyLength(get("/long.bin")));

    try (var client = new RawClient(server.port()); var writableFile = new RandomAccessFile(file.toFile(), "rw")) {
      client.send("GET /long.bin HTTP/1.1\r\nHost: a\r\n\r\n");
      client.socket.getInputStream().read(); // the server is still sending, because the file exceeds the socket buffers
      writableFile.setLength(1);

      var response = client.readToEnd();
      assertTrue(response.contains("Content-Length: 16777216\r\n") && bodyLength(response) < 16 << 20,
          "the response is complete");
    }
  }

  private static int bodyLength(String response) {
    return response.length() - response.indexOf("\r\n\r\n") - 4;
  }
}
