package io.fibry.net.http;

import static java.util.Map.entry;

import io.fibry.net.HttpExchange;
import io.fibry.net.http.HttpStatus.RequestRefusedException;
import io.fibry.text.Escapes;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A folder of files to serve. A file is served if its path, with all links resolved, is below the
 * root and has no name that begins with a dot. Users who can write to the folder are trusted not to
 * exchange links during a request.
 */
record FileRoot(Path root) {
  private static final String PLAIN_TEXT = "text/plain; charset=utf-8";
  private static final Map<String, String> TYPES = Map.ofEntries(
      entry("html", "text/html; charset=utf-8"), entry("htm", "text/html; charset=utf-8"),
      entry("css", "text/css; charset=utf-8"), entry("js", "text/javascript; charset=utf-8"),
      entry("mjs", "text/javascript; charset=utf-8"), entry("json", "application/json"),
      entry("map", "application/json"), entry("txt", PLAIN_TEXT), entry("md", "text/markdown; charset=utf-8"),
      entry("csv", "text/csv; charset=utf-8"), entry("xml", "application/xml"), entry("pdf", "application/pdf"),
      entry("svg", "image/svg+xml"), entry("png", "image/png"), entry("jpg", "image/jpeg"),
      entry("jpeg", "image/jpeg"), entry("gif", "image/gif"), entry("webp", "image/webp"),
      entry("ico", "image/x-icon"), entry("woff2", "font/woff2"), entry("wasm", "application/wasm"),
      entry("mp3", "audio/mpeg"), entry("mp4", "video/mp4"), entry("webm", "video/webm"),
      entry("zip", "application/zip"));

  static FileRoot of(Path root) {
    try {
      var realRoot = root.toRealPath();
      if (Files.isDirectory(realRoot)) return new FileRoot(realRoot);
    } catch (IOException noFolder) {}
    throw new IllegalArgumentException(
        root.toAbsolutePath() + " is not a folder, so it has no files to serve; give an existing folder");
  }

  /**
   * Responds with the file, or the index.html of the folder.
   *
   * @param subPath the path below the root; empty, or begins with a slash
   */
  void serve(ServerExchange exchange, String subPath) throws IOException {
    var file = find(subPath);
    var attributes = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (attributes.isDirectory()) {
      if (!subPath.endsWith("/")) { // otherwise relative links in the page would start at the parent folder
        redirect(exchange);
        return;
      }
      file = realPath(file.resolve("index.html"));
      attributes = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }
    if (!attributes.isRegularFile()) throw new RequestRefusedException(404, "neither a file nor a folder: " + file);
    send(exchange, file, attributes);
  }

  private Path find(String subPath) throws IOException {
    if (subPath.contains("/.") || subPath.contains("\\")
        || subPath.endsWith("/") && subPath.length() > 1 && !Files.isDirectory(realPath(resolve(subPath))))
      throw new RequestRefusedException(404, "a hidden name, a backslash, or a slash after the name of a file");
    return realPath(resolve(subPath));
  }

  private Path resolve(String subPath) throws RequestRefusedException {
    try {
      var file = root.resolve(subPath.substring(subPath.startsWith("/") ? 1 : 0)).normalize();
      if (file.startsWith(root)) return file;
    } catch (InvalidPathException impossibleName) {}
    throw new RequestRefusedException(404, "no file can have this name");
  }

  private Path realPath(Path file) throws RequestRefusedException {
    try {
      var realFile = file.toRealPath();
      if (realFile.startsWith(root) && isShown(root.relativize(realFile))) return realFile;
    } catch (IOException absent) {}
    throw new RequestRefusedException(404, "missing, hidden, or a link to a hidden file or out of the root");
  }

  private static boolean isShown(Path relativePath) {
    for (var name : relativePath) if (name.toString().startsWith(".")) return false;
    return true;
  }

  private static void redirect(HttpExchange exchange) throws IOException {
    var location = new StringBuilder();
    appendEncoded(exchange.path() + "/", location);
    char separator = '?';
    for (var parameter : exchange.queryParameters().entrySet()) for (var value : parameter.getValue()) {
      appendEncoded(parameter.getKey(), location.append(separator));
      appendEncoded(value, location.append('='));
      separator = '&';
    }
    exchange.status(301).header("Location", location.toString()).header("Content-Type", PLAIN_TEXT);
  }

  private static void appendEncoded(String text, StringBuilder location) {
    Escapes.appendPercentEncoded(text, "/-._~", location);
  }

  /** Sends the file, or a part of it, if the conditions of the request hold. */
  private static void send(ServerExchange exchange, Path file, BasicFileAttributes attributes) throws IOException {
    var version = FileVersion.of(attributes, Instant.now());
    exchange.header("ETag", version.entityTag()).header("Last-Modified", ServerResponse.date(version.lastModified()))
        .header("Accept-Ranges", "bytes").header("X-Content-Type-Options", "nosniff");
    switch (version.statusFor(exchange)) {
      case 304 -> exchange.status(304);
      case 412 -> refuse(exchange, 412);
      default -> sendRequestedBytes(exchange, file, attributes.size(), version);
    }
  }

  private static void sendRequestedBytes(ServerExchange exchange, Path file, long size, FileVersion version)
      throws IOException {
    var range = exchange.method().equals("GET") && version.mayBeSentInParts(exchange)
        ? exchange.header("Range").flatMap(header -> ByteRange.of(header, size)) : Optional.<ByteRange>empty();
    if (range.isEmpty()) sendBytes(exchange, file, new ByteRange(0, size));
    else {
      exchange.header("Content-Range", range.get().contentRange(size));
      if (range.get().hasBytes()) sendBytes(exchange.status(206), file, range.get());
      else refuse(exchange, 416);
    }
  }

  private static void refuse(ServerExchange exchange, int code) {
    exchange.status(code);
    exchange.response.setError(HttpStatus.codeAndReason(code));
  }

  private static void sendBytes(HttpExchange exchange, Path file, ByteRange range) throws IOException {
    var name = file.getFileName().toString();
    var type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT),
        "application/octet-stream");
    exchange.header("Content-Type", type).header("Content-Length", Long.toString(range.length()));
    if (exchange.method().equals("HEAD")) return;
    try (var channel = Files.newByteChannel(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      var in = Channels.newInputStream(channel.position(range.start()));
      var out = exchange.outputStream();
      var buffer = new byte[8_192];
      // if the file grows while it is sent, the added bytes are not sent; if it shrinks, the
      // connection is closed
      long remaining = range.length();
      for (int count; remaining > 0
          && (count = in.read(buffer, 0, (int) Math.min(buffer.length, remaining))) > 0; remaining -= count)
        out.write(buffer, 0, count);
    }
  }
}
