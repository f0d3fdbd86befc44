package io.fibry.dashboard;

import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A page in a Chromium without a window, controlled by the DevTools protocol. */
final class Chromium implements AutoCloseable {
  private static final Pattern PORT = Pattern.compile("DevTools listening on ws://127\\.0\\.0\\.1:(\\d+)/");
  private static final Pattern PAGE = Pattern.compile("\"webSocketDebuggerUrl\": \"(ws://[^\"]*/page/[^\"]*)\"");
  private static final Pattern ID = Pattern.compile("^\\{\"id\":(\\d+)");
  private static final Pattern VALUE = Pattern.compile("\"value\":\"([^\"]*)\"");
  private static final Pattern DATA = Pattern.compile("\"data\":\"([^\"]*)\"");

  private final Child process;
  private final HttpClient client = HttpClient.newHttpClient();
  private final WebSocket socket;
  private final Map<Integer, CompletableFuture<String>> calls = new ConcurrentHashMap<>(); // by number
  private final AtomicInteger lastNumber = new AtomicInteger(); // of a call

  static Optional<Path> program() {
    return Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome").map(Path::of)
        .filter(Files::isExecutable).findFirst();
  }

  /** @param profile an empty folder */
  Chromium(Path profile) throws Exception {
    process = Child.start(List.of(program().orElseThrow().toString(), "--headless=new", "--no-sandbox", "--disable-gpu",
        "--hide-scrollbars", "--remote-debugging-port=0", "--user-data-dir=" + profile, "about:blank"));
    var pages = get("http://127.0.0.1:" + port() + "/json/list");
    var matcher = PAGE.matcher(pages);
    if (!matcher.find()) throw new IllegalStateException("Chromium has no page: " + pages);
    socket = Patience.value(client.newWebSocketBuilder()
        .buildAsync(URI.create(matcher.group(1)), new AnswerListener()));
  }

  private int port() {
    var line = process.awaitLine(text -> PORT.matcher(text).find());
    return Integer.parseInt(PORT.matcher(line).results().findFirst().orElseThrow().group(1));
  }

  private String get(String address) throws Exception {
    return client.send(HttpRequest.newBuilder(URI.create(address)).build(), BodyHandlers.ofString()).body();
  }

  /** Completes the calls whose answers arrive. */
  private final class AnswerListener implements WebSocket.Listener {
    private final StringBuilder parts = new StringBuilder(); // of one message

    @Override
    public CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean isLast) {
      parts.append(data);
      if (isLast) {
        var message = parts.toString();
        parts.setLength(0);
        var id = ID.matcher(message);
        if (id.find()) calls.remove(Integer.parseInt(id.group(1))).complete(message);
      }
      webSocket.request(1);
      return CompletableFuture.completedStage(null);
    }
  }

  private String call(String method, Map<String, Object> parameters) throws Exception {
    int number = lastNumber.incrementAndGet();
    var answer = new CompletableFuture<String>();
    calls.put(number, answer);
    socket.sendText(JsonText.of(JsonText.object("id", number, "method", method, "params", parameters)), true);
    var text = Patience.value(answer);
    if (text.contains("\"error\":") || text.contains("\"exceptionDetails\":"))
      throw new IllegalStateException(method + " " + parameters + " failed: " + text);
    return text;
  }

  void open(URI address) throws Exception {
    call("Page.navigate", Map.of("url", address.toString()));
    until("location.href === " + JsonText.of(address.toString()) + " && document.readyState === 'complete'");
  }

  void setSize(int width, int height) throws Exception {
    call("Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
  }

  /** Sets the color scheme that the system prefers: light or dark. */
  void setColorScheme(String scheme) throws Exception {
    call("Emulation.setEmulatedMedia",
        JsonText.object("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
  }

  /** Returns the value of an expression as text. */
  String value(String script) throws Exception {
    var answer = call("Runtime.evaluate",
        Map.of("expression", "encodeURIComponent(" + script + ")", "returnByValue", true));
    var matcher = VALUE.matcher(answer);
    if (!matcher.find()) throw new IllegalStateException(script + " has no value: " + answer);
    return URLDecoder.decode(matcher.group(1).replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** Waits until the condition holds. */
  void until(String condition) throws Exception {
    call("Runtime.evaluate", Map.of("awaitPromise", true, "expression", "new Promise(done => { const check = () => ("
        + condition + ") ? done(1) : setTimeout(check, 20); check(); })"));
  }

  byte[] takePicture() throws Exception {
    var matcher = DATA.matcher(call("Page.captureScreenshot", Map.of("format", "png")));
    if (!matcher.find()) throw new IllegalStateException("Chromium made no picture");
    return Base64.getDecoder().decode(matcher.group(1));
  }

  @Override
  public void close() {
    socket.abort();
    client.close();
    process.close();
  }
}
