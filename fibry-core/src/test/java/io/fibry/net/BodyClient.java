package io.fibry.net;

import io.fibry.net.BodyUpload.Kind;
import io.fibry.support.Patience;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A client that sends one or two uploads on one connection, and checks the responses. */
final class BodyClient {
  private static final int MAX_ATTEMPTS = 4;

  /**
   * Two latches. The first opens when all clients have begun to send, the second when all clients
   * have sent everything.
   */
  record Phases(CountDownLatch begun, CountDownLatch sent) {
    Phases(int clients) {
      this(new CountDownLatch(clients), new CountDownLatch(clients));
    }
  }

  private enum SendMode { AT_ONCE, IN_PIECES, STALLED }

  private final int port;
  private final List<BodyUpload> uploads;
  private final Phases phases;
  private final Consumer<String> violations;
  private final SplittableRandom random;
  private final SendMode sendMode;
  private final boolean lingers; // if true, the client waits for the other clients before it disconnects
  private boolean hasBegun;
  private boolean hasSent;
  private boolean wasRefused; // the last attempt was refused
  private int refusals;

  BodyClient(int port, List<BodyUpload> uploads, Phases phases, Consumer<String> violations, SplittableRandom random) {
    this.port = port;
    this.uploads = uploads;
    this.phases = phases;
    this.violations = violations;
    this.random = random;
    this.sendMode = SendMode.values()[random.nextInt(SendMode.values().length)];
    this.lingers = random.nextInt(3) > 0;
    if (lastUpload().kind == Kind.GONE) uploads.forEach(BodyUpload::abandon);
  }

  private BodyUpload lastUpload() {
    return uploads.getLast();
  }

  void run() {
    try {
      do {
        var responses = exchange();
        if (lastUpload().kind != Kind.GONE) checkResponses(responses);
        markSent();
        Patience.await(phases.sent);
      } while (wasRefused && ++refusals < MAX_ATTEMPTS);
    } catch (IOException | RuntimeException | AssertionError failure) {
      violations.accept(uploads + " failed: " + failure);
    } finally {
      markSent();
    }
  }

  private void markBegun() {
    if (!hasBegun) phases.begun.countDown();
    hasBegun = true;
  }

  private void markSent() {
    markBegun();
    if (!hasSent) phases.sent.countDown();
    hasSent = true;
  }

  /** Sends the uploads, and returns all responses. */
  private String exchange() throws IOException {
    try (var client = new RawClient(port)) {
      var text = uploads.stream().map(upload -> upload.head + upload.wire).collect(Collectors.joining());
      if (lastUpload().kind == Kind.TORN || lastUpload().kind == Kind.GONE)
        text =
            text.substring(0, text.length() - lastUpload().wire.length()
                + random.nextInt(Math.max(1, lastUpload().wire.length())));
      var firstResponse = "";
      if (lastUpload().expectsContinue) {
        firstResponse = client.send(lastUpload().head).readResponse();
        if (!lastUpload().continuesAfter(firstResponse)) return firstResponse + client.readToEnd();
        text = text.substring(lastUpload().head.length());
      }
      try {
        send(client, text);
        markSent();
        if (disconnectIfPlanned(client)) return "";
      } catch (IOException refusal) {
        if (uploads.stream().noneMatch(BodyUpload::mayRespondBeforeFault)) throw refusal;
      }
      return firstResponse + client.readToEnd();
    }
  }

  private void send(RawClient client, String text) throws IOException {
    switch (sendMode) {
      case AT_ONCE -> client.send(text);
      case IN_PIECES -> {
        for (int position = 0, end; position < text.length(); position = end) {
          end = Math.min(text.length(), position + 1 + random.nextInt(random.nextInt(4) == 0 ? 5 : 3_000));
          client.send(text.substring(position, end));
        }
      }
      case STALLED -> {
        int splitPosition = random.nextInt(text.length() + 1);
        client.send(text.substring(0, splitPosition));
        markBegun();
        Patience.await(phases.begun);
        client.send(text.substring(splitPosition));
      }
    }
  }

  /**
   * Disconnects if the upload is torn or abandoned. Returns whether the client then reads no
   * response.
   */
  private boolean disconnectIfPlanned(RawClient client) throws IOException {
    if (lastUpload().kind != Kind.TORN && lastUpload().kind != Kind.GONE) return false;
    if (lingers) Patience.await(phases.sent);
    if (lastUpload().kind == Kind.TORN) client.socket.shutdownOutput();
    else if (random.nextBoolean()) client.socket.setSoLinger(true, 0); // a reset
    return lastUpload().kind == Kind.GONE;
  }

  private void checkResponses(String text) {
    var responses = RawResponse.parseAll(text);
    if (!responses.isEmpty() && responses.getFirst().code() == 100 && lastUpload().expectsContinue)
      responses = responses.subList(1, responses.size());
    wasRefused = !responses.isEmpty() && responses.getFirst().code() == 503;
    boolean needsResponse = true; // whether the next upload must get a response
    for (int i = 0; i < uploads.size(); i++) {
      var upload = uploads.get(i);
      if (i == responses.size()) {
        if (needsResponse && !(text.isEmpty() && upload.mayRespondBeforeFault()))
          violations.accept(upload + " has no response: " + uploads);
        return;
      }
      var violation = upload.findResponseError(responses.get(i));
      if (!violation.isEmpty()) violations.accept(violation);
      needsResponse = !responses.get(i).closesConnection() && upload.kind == Kind.GOOD;
      if (!needsResponse && responses.size() > i + 1)
        violations.accept(uploads + " have too many responses: " + responses);
    }
    if (responses.size() > uploads.size()) violations.accept(uploads + " have too many responses: " + responses);
  }

  /** Returns whether the last attempt was not refused. */
  boolean wasNotRefused() {
    return !wasRefused;
  }

  int refusals() {
    return refusals;
  }
}
