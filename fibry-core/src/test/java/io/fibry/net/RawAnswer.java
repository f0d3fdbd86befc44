package io.fibry.net;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An answer in its original bytes; it is not whole if the connection ended within its body. */
record RawAnswer(int code, boolean closes, String body, boolean whole) {
  private static final Pattern HEAD =
      Pattern.compile("HTTP/1\\.1 (\\d{3}) [ -~]+\r\n((?:[A-Za-z-]+: [ -~]*\r\n)*)\r\n");
  private static final Pattern LENGTH = Pattern.compile("Content-Length: (\\d+)\r\n");
  private static final Pattern CHUNK = Pattern.compile("([0-9a-f]+)\r\n");

  /** All that a server has sent is answers, or this fails. */
  static List<RawAnswer> all(String sent) {
    var all = new ArrayList<RawAnswer>();
    var head = HEAD.matcher(sent);
    for (int at = 0; at < sent.length();) {
      if (!head.find(at) || head.start() != at)
        throw new AssertionError("no answer: '" + sent.substring(at) + "' at the end of '" + sent + "'");
      at = head.end();
      var body = new StringBuilder();
      int end = body(sent, head, body);
      int code = Integer.parseInt(head.group(1));
      all.add(new RawAnswer(code, head.group(2).contains("Connection: close\r\n"), body.toString(), end >= 0));
      at = end >= 0 ? end : sent.length();
    }
    return all;
  }

  /** Returns where it ends, or -1 if it does not end. */
  private static int body(String sent, Matcher head, StringBuilder body) {
    var length = LENGTH.matcher(head.group(2));
    if (length.find()) return part(sent, head.end(), Integer.parseInt(length.group(1)), body);
    return head.group(2).contains("Transfer-Encoding: chunked\r\n") ? chunks(sent, head.end(), body) : head.end();
  }

  private static int part(String sent, int from, int length, StringBuilder body) {
    int to = Math.min(sent.length(), from + length);
    body.append(sent, from, to);
    return to == from + length ? to : -1;
  }

  private static int chunks(String sent, int from, StringBuilder body) {
    var chunk = CHUNK.matcher(sent);
    for (int at = from; chunk.find(at) && chunk.start() == at;) {
      int size = Integer.parseInt(chunk.group(1), 16);
      int end = part(sent, chunk.end(), size, body);
      if (end < 0 || !sent.startsWith("\r\n", end)) return -1;
      at = end + 2;
      if (size == 0) return at;
    }
    return -1;
  }
}
