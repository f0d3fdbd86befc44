package io.fibry.net.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The status codes of responses. */
public final class HttpStatus {
  private static final byte[][] STATUS_LINES = new byte[600][];

  static {
    for (int code = 200; code < STATUS_LINES.length; code++)
      STATUS_LINES[code] = ("HTTP/1.1 " + code + " " + reason(code) + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
  }

  private HttpStatus() {}

  static byte[] statusLine(int code) {
    return STATUS_LINES[code];
  }

  /** Returns the code and its reason, such as "404 Not Found", for the body of a response. */
  public static String codeAndReason(int code) {
    return code + " " + reason(code);
  }

  /** Returns whether a response with this status may have a body. */
  static boolean mayHaveBody(int code) {
    return code != 204 && code != 205 && code != 304;
  }

  /**
   * Returns the value of the Content-Length header for a body of this length. Returns -1 if the
   * response has no such header.
   */
  static long contentLength(int code, long length) {
    return mayHaveBody(code) ? length : code == 205 ? 0 : -1;
  }

  /** Returns the reason of a status, such as "Not Found". */
  static String reason(int code) {
    return switch (code) {
      case 200 -> "OK";
      case 201 -> "Created";
      case 202 -> "Accepted";
      case 204 -> "No Content";
      case 205 -> "Reset Content";
      case 206 -> "Partial Content";
      case 301 -> "Moved Permanently";
      case 302 -> "Found";
      case 303 -> "See Other";
      case 304 -> "Not Modified";
      case 307 -> "Temporary Redirect";
      case 308 -> "Permanent Redirect";
      case 400 -> "Bad Request";
      case 401 -> "Unauthorized";
      case 403 -> "Forbidden";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 406 -> "Not Acceptable";
      case 408 -> "Request Timeout";
      case 409 -> "Conflict";
      case 410 -> "Gone";
      case 412 -> "Precondition Failed";
      case 413 -> "Content Too Large";
      case 414 -> "URI Too Long";
      case 415 -> "Unsupported Media Type";
      case 416 -> "Range Not Satisfiable";
      case 417 -> "Expectation Failed";
      case 421 -> "Misdirected Request";
      case 422 -> "Unprocessable Content";
      case 426 -> "Upgrade Required";
      case 429 -> "Too Many Requests";
      case 431 -> "Request Header Fields Too Large";
      case 500 -> "Internal Server Error";
      case 501 -> "Not Implemented";
      case 502 -> "Bad Gateway";
      case 503 -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      case 505 -> "HTTP Version Not Supported";
      default -> code < 300 ? "Success" : code < 400 ? "Redirection" : code < 500 ? "Client Error" : "Server Error";
    };
  }

  /**
   * Thrown to refuse a request with a status. If the head or body could not be read, the client
   * gets the text of the exception, too. It has no stack trace, because an attack may cause many
   * such exceptions.
   */
  @SuppressWarnings("serial") // never serialized
  public static final class RequestRefusedException extends IOException {
    final int code;

    RequestRefusedException(int code, String reason) {
      super(reason);
      this.code = code;
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
