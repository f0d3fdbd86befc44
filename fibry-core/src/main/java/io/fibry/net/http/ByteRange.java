package io.fibry.net.http;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A range of the bytes of a file, without bytes if the file ends before the requested range.
 *
 * @param start index of the first byte
 * @param end index after the last byte
 */
record ByteRange(long start, long end) {
  private static final Pattern SINGLE = Pattern.compile("bytes=(\\d*)-(\\d*)", Pattern.CASE_INSENSITIVE);

  /**
   * Returns the range that a Range header requests. Returns empty if the header shall be ignored:
   * it is malformed, names another unit or several ranges, or asks for the end of an empty file. No
   * Content-Range could describe an empty end.
   */
  static Optional<ByteRange> of(String header, long fileSize) {
    var matcher = SINGLE.matcher(header);
    if (!matcher.matches() || header.endsWith("=-")) return Optional.empty();
    long last = matcher.group(2).isEmpty() ? Long.MAX_VALUE : number(matcher.group(2));
    if (matcher.group(1).isEmpty()) { // the last bytes of the file
      if (fileSize == 0 && last > 0) return Optional.empty();
      return Optional.of(new ByteRange(fileSize - Math.min(last, fileSize), fileSize));
    }
    long first = number(matcher.group(1));
    if (first > last) return Optional.empty();
    return Optional.of(new ByteRange(first, Math.max(first, Math.min(last, fileSize - 1) + 1)));
  }

  /** Returns the number, or the highest long if the number is higher. */
  private static long number(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException tooHigh) {
      return Long.MAX_VALUE;
    }
  }

  boolean hasBytes() {
    return start < end;
  }

  long length() {
    return end - start;
  }

  /** Returns the value of Content-Range for these bytes of a file. */
  String contentRange(long fileSize) {
    return "bytes " + (hasBytes() ? start + "-" + (end - 1) : "*") + "/" + fileSize;
  }
}
