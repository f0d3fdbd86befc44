package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.testing.Promise;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which part of a file a client gets that asks for a range of its bytes. */
class HttpRangesTest extends FileFixture {
  @Promise("27.27")
  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      bytes=0-0 | 0-0 | 0
      bytes=0-4 | 0-4 | 01234
      bytes=4-5 | 4-5 | 45
      bytes=9-9 | 9-9 | 9
      bytes=0-9 | 0-9 | 0123456789
      bytes=0-  | 0-9 | 0123456789
      bytes=9-  | 9-9 | 9
      bytes=8-10 | 8-9 | 89
      bytes=3-99999999999999999999 | 3-9 | 3456789
      bytes=3-9223372036854775807 | 3-9 | 3456789
      bytes=-1  | 9-9 | 9
      bytes=-10 | 0-9 | 0123456789
      bytes=-11 | 0-9 | 0123456789
      bytes=-99999999999999999999 | 0-9 | 0123456789
      bytes=00000000000000000000001-00000000000000000000002 | 1-2 | 12
      BYTES=1-2 | 1-2 | 12
      """)
  void requestedRangeIsSentWithContentRangeHeader(String range, String positions, String content) throws IOException {
    var response = get("Range: " + range);

    assertTrue(response.startsWith("HTTP/1.1 206 Partial Content\r\n"), response);
    assertEquals("bytes " + positions + "/10", header(response, "Content-Range"));
    assertEquals("" + content.length(), header(response, "Content-Length"));
    assertEquals("text/plain; charset=utf-8", header(response, "Content-Type"));
    assertEquals(content, body(response));
    for (var name : new String[] {"ETag", "Last-Modified", "Accept-Ranges"})
      assertEquals(header(get(), name), header(response, name));
  }

  @Promise("27.27")
  @ParameterizedTest
  @ValueSource(strings = {"bytes=10-", "bytes=10-10", "bytes=-0", "bytes=99999999999999999999-",
    "bytes=99999999999999999998-99999999999999999999", "bytes=9223372036854775807-9223372036854775807"})
  void rangeBeyondFileGets416WithSize(String range) throws IOException {
    var response = get("Range: " + range);

    assertTrue(response.startsWith("HTTP/1.1 416 Range Not Satisfiable\r\n"), response);
    assertEquals("bytes */10", header(response, "Content-Range"));
    assertEquals("416 Range Not Satisfiable\n", body(response));
  }

  @Promise("27.27")
  @ParameterizedTest
  @ValueSource(strings = {"bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=0-1,3-4", "bytes=0-1,", "items=0-1",
    "bytes 0-1", "bytes=0--1", "bytes=--1", "bytes=0x1-2", "bytes= 0-1", "bytes=0-1x", "bytes=+1-2", "0-1",
    "bytes=0-0\r\nRange: bytes=1-1"})
  void malformedOrSecondRangeGetsWholeFile(String range) throws IOException {
    var response = get("Range: " + range);

    assertEquals("200 0123456789", codeAndBody(response));
    assertEquals("none", header(response, "Content-Range"));
    assertEquals("bytes", header(response, "Accept-Ranges"));
  }

  @Promise("27.27")
  @Test
  void rangeOfEmptyFileGets416UnlessItIsSuffix() throws IOException {
    Files.writeString(folder.resolve("empty.css"), "");

    for (var range : new String[] {"bytes=0-", "bytes=0-0", "bytes=-0"}) {
      var response = send("GET", "/empty.css", "Range: " + range);
      assertEquals("416", RawClient.codes(response), range);
      assertEquals("bytes */0", header(response, "Content-Range"));
    }
    assertEquals("200", codeAndBody(send("GET", "/empty.css", "Range: bytes=-5")));
    assertEquals("200", codeAndBody(send("GET", "/empty.css")));
  }

  @Promise("27.27")
  @Test
  void headIgnoresRange() throws IOException {
    for (var range : new String[] {"bytes=0-1", "bytes=10-"})
      assertEquals(head(get()), head(send("HEAD", "/digits.txt", "Range: " + range)));
  }

  @Test
  void rangesOfLongFileHaveRightBytes() throws IOException {
    var content = new byte[100_000];
    new Random(1).nextBytes(content);
    Files.write(folder.resolve("long.bin"), content);

    for (int start : new int[] {0, 1, 8_191, 8_192, 8_193, 99_999})
      for (int length : new int[] {1, 8_191, 8_192, 8_193, 50_000}) {
        int end = Math.min(content.length, start + length);
        assertEquals(latin1(content, start, end),
            body(send("GET", "/long.bin", "Range: bytes=" + start + "-" + (start + length - 1))));
      }
  }

  @Test
  void connectionStaysOpenAfterRange() throws IOException {
    try (var client = new RawClient(server.port())) {
      assertEquals("206 12", exchange(client, "Range: bytes=1-2"));
      assertEquals("416 416 Range Not Satisfiable", exchange(client, "Range: bytes=10-"));
      assertEquals("304", exchange(client, "If-None-Match: *"));
      assertEquals("412 412 Precondition Failed", exchange(client, "If-Match: \"a\""));
      assertEquals("200 0123456789", exchange(client));
    }
  }

  private static String exchange(RawClient client, String... headers) throws IOException {
    return codeAndBody(client.send(request("GET", "/digits.txt", headers)).readResponse());
  }

  @Promise("27.27")
  @ParameterizedTest
  @ValueSource(ints = {1, 5_000_000})
  void responseIsIncompleteWhenFileShrinksDuringRange(int newLength) throws IOException {
    var file = Files.write(folder.resolve("long.bin"), new byte[20 << 20]);
    try (var client = new RawClient(server.port()); var writableFile = new RandomAccessFile(file.toFile(), "rw")) {
      client.send(request("GET", "/long.bin", "Range: bytes=1000000-"));
      // the server is still sending, because the range exceeds the socket buffers
      client.socket.getInputStream().read();
      writableFile.setLength(newLength);

      var response = client.readToEnd();

      assertEquals("bytes 1000000-20971519/20971520", header(response, "Content-Range"));
      assertTrue(body(response).length() < 19_971_520, "the response is complete");
    }
  }
}
