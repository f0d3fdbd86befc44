package io.fibry.net;

import io.fibry.net.BodyUpload.Kind;
import io.fibry.support.Patience;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A client with one or two uploads on a connection, and the judge of its answers. */
final class BodyClient {
  private static final int MOST_TRIES = 4;

  /** All clients have begun to send; all have sent what they will send. */
  record Turns(CountDownLatch begun, CountDownLatch sent) {
    Turns(int clients) {
      this(new CountDownLatch(clients), new CountDownLatch(clients));
    }
  }

  private enum Way { AT_ONCE, IN_PIECES, STALLED }

  private final int port;
  private final List<BodyUpload> uploads;
  private final Turns turns;
  private final Consumer<String> faults;
  private final SplittableRandom random;
  private final Way way;
  private final boolean lingers; // before it leaves
  private boolean begun;
  private boolean sent;
  private boolean busy; // the last try was refused
  private int refusals;

  BodyClient(int port, List<BodyUpload> uploads, Turns turns, Consumer<String> faults, SplittableRandom random) {
    this.port = port;
    this.uploads = uploads;
    this.turns = turns;
    this.faults = faults;
    this.random = random;
    this.way = Way.values()[random.nextInt(Way.values().length)];
    this.lingers = random.nextInt(3) > 0;
    if (last().kind == Kind.GONE) uploads.forEach(BodyUpload::abandon);
  }

  private BodyUpload last() {
    return uploads.getLast();
  }

  void run() {
    try {
      do {
        var all = talk();
        if (last().kind != Kind.GONE) judge(all);
        sent();
        Patience.await(turns.sent);
      } while (busy && ++refusals < MOST_TRIES);
    } catch (IOException | RuntimeException | AssertionError failure) {
      faults.accept(uploads + " failed: " + failure);
    } finally {
      sent();
    }
  }

  private void begun() {
    if (!begun) turns.begun.countDown();
    begun = true;
  }

  private void sent() {
    begun();
    if (!sent) turns.sent.countDown();
    sent = true;
  }

  /** Returns all answers. */
  private String talk() throws IOException {
    try (var client = new RawClient(port)) {
      var text = uploads.stream().map(upload -> upload.head + upload.wire).collect(Collectors.joining());
      if (last().kind == Kind.TORN || last().kind == Kind.GONE)
        text =
            text.substring(0, text.length() - last().wire.length() + random.nextInt(Math.max(1, last().wire.length())));
      var first = "";
      if (last().expects) {
        first = client.send(last().head).one();
        if (!last().goesOnAfter(first)) return first + client.all();
        text = text.substring(last().head.length());
      }
      try {
        send(client, text);
        sent();
        if (leaves(client)) return "";
      } catch (IOException refused) {
        if (uploads.stream().noneMatch(BodyUpload::breaksOff)) throw refused;
      }
      return first + client.all();
    }
  }

  private void send(RawClient client, String text) throws IOException {
    switch (way) {
      case AT_ONCE -> client.send(text);
      case IN_PIECES -> {
        for (int at = 0, to; at < text.length(); at = to) {
          to = Math.min(text.length(), at + 1 + random.nextInt(random.nextInt(4) == 0 ? 5 : 3_000));
          client.send(text.substring(at, to));
        }
      }
      case STALLED -> {
        int half = random.nextInt(text.length() + 1);
        client.send(text.substring(0, half));
        begun();
        Patience.await(turns.begun);
        client.send(text.substring(half));
      }
    }
  }

  /** Whether the connection is gone. */
  private boolean leaves(RawClient client) throws IOException {
    if (last().kind != Kind.TORN && last().kind != Kind.GONE) return false;
    if (lingers) Patience.await(turns.sent);
    if (last().kind == Kind.TORN) client.socket.shutdownOutput();
    else if (random.nextBoolean()) client.socket.setSoLinger(true, 0); // a reset
    return last().kind == Kind.GONE;
  }

  private void judge(String all) {
    var answers = RawAnswer.all(all);
    if (!answers.isEmpty() && answers.getFirst().code() == 100 && last().expects)
      answers = answers.subList(1, answers.size());
    busy = !answers.isEmpty() && answers.getFirst().code() == 503;
    boolean next = true; // must be answered
    for (int i = 0; i < uploads.size(); i++) {
      var upload = uploads.get(i);
      if (i == answers.size()) {
        if (next && !(all.isEmpty() && upload.breaksOff())) faults.accept(upload + " has no answer: " + uploads);
        return;
      }
      var fault = upload.judge(answers.get(i));
      if (!fault.isEmpty()) faults.accept(fault);
      next = !answers.get(i).closes() && upload.kind == Kind.GOOD;
      if (!next && answers.size() > i + 1) faults.accept(uploads + " have too many answers: " + answers);
    }
    if (answers.size() > uploads.size()) faults.accept(uploads + " have too many answers: " + answers);
  }

  /** Whether the last try was not refused. */
  boolean wasHandled() {
    return !busy;
  }

  int refusals() {
    return refusals;
  }
}
