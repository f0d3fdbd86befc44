package io.fibry.examples;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;

/** An actor stashes messages that come too early, and handles them later in their order. */
class Stash {
  sealed interface Log {}
  record Opened(String file) implements Log {}
  record Write(String line) implements Log {}

  private String file = "";

  void handle(Log message, ActorContext<Log> context) {
    switch (message) {
      case Write w when file.isEmpty() -> context.stash();
      case Write w -> System.out.println(file + ": " + w.line());
      case Opened o -> {
        file = o.file();
        context.unstash();
      }
    }
  }

  public static void main(String[] args) {
    try (var log = ActorSystem.named("log").mailbox(Mailbox.unbounded().selective()).initialState(Stash::new)
        .newActor(Stash::handle)) {
      log.sendMessage(new Write("first"));
      log.sendMessage(new Write("second"));
      log.sendMessage(new Opened("log.txt"));
      log.sendMessage(new Write("third"));
    }
  }
}
