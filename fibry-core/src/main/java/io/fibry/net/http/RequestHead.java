package io.fibry.net.http;

import io.fibry.net.http.HttpStatus.RequestRefusedException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The request line and the headers of a request, which are read in one pass. Input that RFC 9112
 * does not clearly allow is refused, because an attacker can exploit a proxy and a server that
 * repair such input differently.
 */
public final class RequestHead {
  static final long CHUNKED = -1;
  private static final int MAX_FIELDS = 100;
  private static final int MAX_METHOD = 32;
  private static final boolean[] TOKEN = new boolean[128];

  static {
    for (char c : "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".toCharArray())
      TOKEN[c] = true;
  }

  private final InputStream in;
  private byte[] raw = new byte[512]; // the request line and the headers, without separators
  private int length;
  private final int maxHeaders; // bytes that the headers may have
  private int remaining; // bytes that the headers may still have
  // four indexes of `raw` for each header: start and end of its name, start and end of its value
  private int[] fields = new int[32];
  private int fieldsLength; // used elements of `fields`
  private int methodEnd; // 0 until the method is read
  private int targetEnd; // 0 until the target is read
  private boolean hasVersion; // whether the request line is read to its end, and ends with a version

  public String method;
  public RequestTarget target;
  String host; // the Host header; null if there is none, as HTTP/1.0 allows
  public boolean isHttp11;
  public long bodyLength; // bytes, or CHUNKED
  boolean expectsContinue;
  boolean keepsAlive;
  private boolean asksClose; // the client has sent Connection: close

  /** Makes an empty head, which {@link #read} fills. */
  public RequestHead(InputStream in, HttpSettings settings) {
    this.in = in;
    this.remaining = this.maxHeaders = settings.maxHeaders();
  }

  /** Reads the head. If the request is refused, the access log reads the part that was read. */
  public void read(int firstByte, HttpSettings settings) throws IOException {
    readRequestLine(firstByte, settings.maxUri());
    while (readField()) {
    }
    parseHeaders(settings);
  }

  private int next() throws IOException {
    int c = in.read();
    if (c < 0) throw new EOFException("the client ended its stream within a head");
    return c;
  }

  private void append(int c) {
    if (length == raw.length) raw = Arrays.copyOf(raw, 2 * length);
    raw[length++] = (byte) c;
  }

  private void requireLineFeed() throws IOException {
    if (next() != '\n') throw new RequestRefusedException(400, "a carriage return without a line feed");
  }

  public static boolean isToken(int c) {
    return c < 128 && TOKEN[c];
  }

  private void readRequestLine(int firstByte, int maxUri) throws IOException {
    int c = firstByte;
    if (c == '\r') { // an empty line may come before the request line
      requireLineFeed();
      c = next();
    }
    for (; c != ' '; c = next()) {
      if (!isToken(c)) throw new RequestRefusedException(400, "a character that a method cannot have");
      if (length == MAX_METHOD)
        throw new RequestRefusedException(501, "a method of more than " + MAX_METHOD + " characters");
      append(c);
    }
    methodEnd = length;
    for (c = next(); c != ' '; c = next()) {
      if (c <= 0x20 || c >= 0x7f) throw new RequestRefusedException(400, "a character that a target cannot have");
      if (length - methodEnd == maxUri)
        throw new RequestRefusedException(414, "a target of more than " + maxUri + " bytes");
      append(c);
    }
    targetEnd = length;
    for (c = next(); c != '\r'; c = next()) {
      if (length - targetEnd == 8)
        throw new RequestRefusedException(400, "a first line that does not end with the version");
      append(c);
    }
    requireLineFeed();
    if (methodEnd == 0 || targetEnd == methodEnd || !isVersion())
      throw new RequestRefusedException(400, "a first line that is not method, target and version");
    hasVersion = true;
  }

  private boolean isVersion() {
    return length - targetEnd == 8 && new String(raw, targetEnd, 5, StandardCharsets.ISO_8859_1).equals("HTTP/")
        && isDigit(raw[targetEnd + 5]) && raw[targetEnd + 6] == '.' && isDigit(raw[targetEnd + 7]);
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /** Reads a header. Returns false at the empty line after the last header. */
  private boolean readField() throws IOException {
    int c = next();
    if (c == '\r') {
      requireLineFeed();
      return false;
    }
    if (fieldsLength == 4 * MAX_FIELDS) throw new RequestRefusedException(431, "more than " + MAX_FIELDS + " headers");
    int nameStart = length;
    for (; c != ':'; c = next()) {
      if (!isToken(c)) throw new RequestRefusedException(400, "a character that the name of a header cannot have");
      countHeaderByte();
      append(c);
    }
    if (length == nameStart) throw new RequestRefusedException(400, "a header without a name");
    int nameEnd = length;
    int valueEnd = length; // without trailing spaces
    for (c = next(); c != '\r'; c = next()) {
      if (c < 0x20 && c != '\t' || c == 0x7f) throw new RequestRefusedException(400, "a control character in a header");
      countHeaderByte();
      boolean isSpace = c == ' ' || c == '\t';
      if (isSpace && length == nameEnd) continue;
      append(c);
      if (!isSpace) valueEnd = length;
    }
    requireLineFeed();
    countHeaderByte();
    if (fieldsLength + 4 > fields.length) fields = Arrays.copyOf(fields, 2 * fields.length);
    fields[fieldsLength] = nameStart;
    fields[fieldsLength + 1] = nameEnd;
    fields[fieldsLength + 2] = nameEnd;
    fields[fieldsLength + 3] = valueEnd;
    fieldsLength += 4;
    return true;
  }

  private void countHeaderByte() throws RequestRefusedException {
    if (--remaining < 0) throw new RequestRefusedException(431, "headers of more than " + maxHeaders + " bytes");
  }

  private void parseHeaders(HttpSettings settings) throws RequestRefusedException {
    isHttp11 = raw[targetEnd + 7] == '1';
    if (raw[targetEnd + 5] != '1' || !isHttp11 && raw[targetEnd + 7] != '0')
      throw new RequestRefusedException(505, "a version other than 1.0 and 1.1");
    method = method();
    String contentLength = null;
    String coding = null;
    keepsAlive = isHttp11;
    for (int i = 0; i < fieldsLength; i += 4) {
      switch (fields[i + 1] - fields[i]) { // the length of the name; most other headers have names of other lengths
        case 4 -> host = singleValue(host, i, "host", "two Host headers");
        case 14 -> contentLength = singleValue(contentLength, i, "content-length", "two Content-Length headers");
        case 17 -> coding = singleValue(coding, i, "transfer-encoding", "two Transfer-Encoding headers");
        case 10 -> {
          if (isNamed(i, "connection")) parseConnection(value(i));
        }
        case 6 -> {
          if (!isNamed(i, "expect") || !isHttp11) continue;
          if (!value(i).equalsIgnoreCase("100-continue"))
            throw new RequestRefusedException(417, "an expectation other than 100-continue");
          expectsContinue = true;
        }
        default -> {}
      }
    }
    if (host == null ? isHttp11 : !RequestTarget.isHost(host))
      throw new RequestRefusedException(400, "no Host header, or a Host header without a valid name");
    keepsAlive &= !asksClose;
    parseFraming(contentLength, coding, settings.maxBody());
    target = parseTarget(method, host, settings.engines().isPresent());
  }

  private RequestTarget parseTarget(String method, String host, boolean isTls) throws RequestRefusedException {
    boolean isAsterisk = method.equals("OPTIONS") && targetEnd == methodEnd + 1 && raw[methodEnd] == '*';
    return isAsterisk ? RequestTarget.SERVER : RequestTarget.of(raw, methodEnd, targetEnd, host, isTls);
  }

  /**
   * Returns the value of this field if the field has this name. Otherwise returns
   * {@code earlierValue}, the value of an earlier field with this name. A second field with this
   * name is refused.
   */
  private String singleValue(String earlierValue, int field, String lowerCaseName, String refusal)
      throws RequestRefusedException {
    if (!isNamed(field, lowerCaseName)) return earlierValue;
    if (earlierValue != null) throw new RequestRefusedException(400, refusal);
    return value(field);
  }

  private String method() throws RequestRefusedException {
    var method = readMethod();
    return switch (method) {
      case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS" -> method;
      case "CONNECT", "TRACE" -> throw new RequestRefusedException(405, "a method that is not served");
      default -> throw new RequestRefusedException(501, "an unknown method");
    };
  }

  private void parseFraming(String contentLength, String coding, long maxBody) throws RequestRefusedException {
    if (coding != null) {
      if (contentLength != null || !isHttp11)
        throw new RequestRefusedException(400, "a Transfer-Encoding beside a Content-Length, or in HTTP/1.0");
      if (!coding.equalsIgnoreCase("chunked"))
        throw new RequestRefusedException(501, "a Transfer-Encoding other than chunked");
      bodyLength = CHUNKED;
    } else if (contentLength != null) {
      if (contentLength.isEmpty() || contentLength.length() > 18
          || !contentLength.chars().allMatch(RequestHead::isDigit))
        throw new RequestRefusedException(400, "a Content-Length that is no number");
      bodyLength = Long.parseLong(contentLength);
      if (bodyLength > maxBody)
        throw new RequestRefusedException(413,
            "a body of " + bodyLength + " bytes; at most " + maxBody + " are allowed");
    }
    if (bodyLength == 0) expectsContinue = false;
  }

  /** Reads a Connection header. The option close outweighs all other options. */
  private void parseConnection(String options) {
    for (var option : options.split(",")) {
      if (option.strip().equalsIgnoreCase("close")) asksClose = true;
      else if (!isHttp11 && option.strip().equalsIgnoreCase("keep-alive")) keepsAlive = true;
    }
  }

  private boolean isNamed(int field, String lowerCaseName) {
    int start = fields[field];
    if (fields[field + 1] - start != lowerCaseName.length()) return false;
    for (int i = 0; i < lowerCaseName.length(); i++) {
      int c = raw[start + i];
      if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
      if (c != lowerCaseName.charAt(i)) return false;
    }
    return true;
  }

  private String value(int field) {
    return text(fields[field + 2], fields[field + 3]);
  }

  Map<String, List<String>> headers() {
    var headers = new LinkedHashMap<String, List<String>>();
    for (int i = 0; i < fieldsLength; i += 4)
      headers.computeIfAbsent(new String(raw, fields[i], fields[i + 1] - fields[i], StandardCharsets.ISO_8859_1)
          .toLowerCase(Locale.ROOT), name -> new ArrayList<>(1)).add(value(i));
    headers.replaceAll((name, values) -> Collections.unmodifiableList(values));
    return Collections.unmodifiableMap(headers);
  }

  // ---- for the access log, which also has requests that were refused

  /** Returns the method, even if the server does not know it; empty if it was not read. */
  String readMethod() {
    return text(0, methodEnd);
  }

  /** Returns the version, such as "HTTP/1.1"; empty if it was not read. */
  String readVersion() {
    return hasVersion ? text(targetEnd, targetEnd + 8) : "";
  }

  /** Returns the target of any request; null if it was not read, or is malformed. */
  RequestTarget readTarget(boolean isTls) {
    if (target != null || targetEnd <= methodEnd) return target;
    try {
      return parseTarget(readMethod(), null, isTls);
    } catch (RequestRefusedException malformed) {
      return null;
    }
  }

  private String text(int from, int to) {
    return new String(raw, from, to - from, StandardCharsets.ISO_8859_1);
  }

  /** Returns all headers of this name, joined as RFC 9110 says, or null if there are none. */
  public String header(String lowerCaseName) {
    String joined = null;
    for (int i = 0; i < fieldsLength; i += 4)
      if (isNamed(i, lowerCaseName))
        joined = joined == null ? value(i) : joined + (lowerCaseName.equals("cookie") ? "; " : ", ") + value(i);
    return joined;
  }
}
