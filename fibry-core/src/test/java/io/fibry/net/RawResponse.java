package io.fibry.net;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A parsed response. It is incomplete if the connection ended within its body. */
record RawResponse(int code, boolean closesConnection, String body, boolean isComplete) {
  private static final Pattern HEAD =
      Pattern.compile("HTTP/1\\.1 (\\d{3}) [ -~]+\r\n((?:[A-Za-z-]+: [ -~]*\r\n)*)\r\n");
  private static final Pattern LENGTH = Pattern.compile("Content-Length: (\\d+)\r\n");
  private static final Pattern CHUNK = Pattern.compile("([0-9a-f]+)\r\n");

  /** Returns the responses of which the text consists. Fails if the text contains anything else. */
  static List<RawResponse> parseAll(String sent) {
    var responses = new ArrayList<RawResponse>();
    var head = HEAD.matcher(sent);
    for (int position = 0; position < sent.length();) {
      if (!head.find(position) || head.start() != position)
        throw new AssertionError("no response: '" + sent.substring(position) + "' at the end of '" + sent + "'");
      position = head.end();
      var body = new StringBuilder();
      int end = body(sent, head, body);
      int code = Integer.parseInt(head.group(1));
      responses.add(new RawResponse(code, head.group(2).contains("Connection: close\r\n"), body.toString(), end >= 0));
      position = end >= 0 ? end : sent.length();
    }
    return responses;
  }

  /** Appends the body. Returns the position of its end, or -1 if it is incomplete. */
  private static int body(String sent, Matcher head, StringBuilder body) {
    var length = LENGTH.matcher(head.group(2));
    if (length.find()) return part(sent, head.end(), Integer.parseInt(length.group(1)), body);
    return head.group(2).contains("Transfer-Encoding: chunked\r\n") ? chunks(sent, head.end(), body) : head.end();
  }

  private static int part(String sent, int start, int length, StringBuilder body) {
    int end = Math.min(sent.length(), start + length);
    body.append(sent, start, end);
    return end == start + length ? end : -1;
  }

  private static int chunks(String sent, int start, StringBuilder body) {
    var chunk = CHUNK.matcher(sent);
    for (int position = start; chunk.find(position) && chunk.start() == position;) {
      int size = Integer.parseInt(chunk.group(1), 16);
      int end = part(sent, chunk.end(), size, body);
      if (end < 0 || !sent.startsWith("\r\n", end)) return -1;
      position = end + 2;
      if (size == 0) return position;
    }
    return -1;
  }
}
