package io.fibry.net;

import static java.util.Map.entry;

import io.fibry.net.HttpStatus.RequestRefusedException;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.DateTimeException;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;

/**
 * A folder of files to serve: those below the real root when all links are resolved, without names
 * that begin with a dot. Users who can write there are trusted not to swap links meanwhile.
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
      var real = root.toRealPath();
      if (Files.isDirectory(real)) return new FileRoot(real);
    } catch (IOException noFolder) {}
    throw new IllegalArgumentException(
        root.toAbsolutePath() + " is no folder, so it has no files to serve; give an existing folder");
  }

  /** {@code below} is empty, or begins with a slash. */
  void serve(HttpExchange exchange, String below) throws IOException {
    var file = find(below);
    var seen = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (seen.isDirectory()) {
      if (!below.endsWith("/")) { // or relative links in the page would miss the folder
        redirect(exchange);
        return;
      }
      file = real(file.resolve("index.html"));
      seen = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }
    if (!seen.isRegularFile()) throw new RequestRefusedException(404, "neither a file nor a folder: " + file);
    send(exchange, file, seen);
  }

  private Path find(String below) throws IOException {
    if (below.contains("/.") || below.contains("\\")
        || below.endsWith("/") && below.length() > 1 && !Files.isDirectory(real(resolve(below))))
      throw new RequestRefusedException(404, "hidden");
    return real(resolve(below));
  }

  private Path resolve(String below) throws RequestRefusedException {
    try {
      var file = root.resolve(below.substring(below.startsWith("/") ? 1 : 0)).normalize();
      if (file.startsWith(root)) return file;
    } catch (InvalidPathException impossibleName) {}
    throw new RequestRefusedException(404, "no file can have this name");
  }

  private Path real(Path file) throws RequestRefusedException {
    try {
      var real = file.toRealPath();
      if (real.startsWith(root) && isShown(root.relativize(real))) return real;
    } catch (IOException absent) {}
    throw new RequestRefusedException(404, "not there, or a link to what is hidden or outside the root");
  }

  private static boolean isShown(Path below) {
    for (var name : below) if (name.toString().startsWith(".")) return false;
    return true;
  }

  private static void redirect(HttpExchange exchange) throws IOException {
    var to = new StringBuilder();
    for (byte b : exchange.path().getBytes(StandardCharsets.UTF_8)) {
      if (b > 0 && (Character.isLetterOrDigit(b) || "/-._~".indexOf(b) >= 0)) to.append((char) b);
      else to.append(String.format("%%%02X", b));
    }
    exchange.status(301).header("Location", to.append('/').toString()).header("Content-Type", PLAIN_TEXT);
  }

  private static void send(HttpExchange exchange, Path file, BasicFileAttributes seen) throws IOException {
    var changed = seen.lastModifiedTime().toInstant().truncatedTo(ChronoUnit.SECONDS);
    exchange.header("Last-Modified", ServerResponse.date(changed)).header("X-Content-Type-Options", "nosniff");
    var known = exchange.header("If-Modified-Since");
    try {
      if (known.isPresent() && !changed.isAfter(ServerResponse.date(known.get()))) {
        exchange.status(304);
        return;
      }
    } catch (DateTimeException ignored) {}
    var name = file.getFileName().toString();
    var type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT),
        "application/octet-stream");
    exchange.header("Content-Type", type).header("Content-Length", Long.toString(seen.size()));
    if (exchange.method().equals("HEAD")) return;
    try (var in =
        Channels.newInputStream(Files.newByteChannel(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      var out = exchange.outputStream();
      var some = new byte[8_192];
      // a file may grow, which is not sent, or shrink, which closes the connection
      long left = seen.size();
      for (int n; left > 0 && (n = in.read(some, 0, (int) Math.min(some.length, left))) > 0; left -= n)
        out.write(some, 0, n);
    }
  }
}
