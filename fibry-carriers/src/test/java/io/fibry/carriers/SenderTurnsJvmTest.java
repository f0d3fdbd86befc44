package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Child;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A sender and a quick actor with a small mailbox, in a JVM with one carrier. */
class SenderTurnsJvmTest {
  private static final int MESSAGES = 10_000; // of a round
  private static final int CAPACITY = 16;

  /** Prints the smallest number of activations in which the actor handled a round of messages. */
  static final class Program {
    private static final int ROUNDS = 40;
    private static ActorContext<?> lastContext; // used by the handler; each activation has its own context
    private static int activations;
    private static int handled;

    public static void main(String[] args) throws InterruptedException {
      var actor = ActorSystem.anonymous().mailbox(Mailbox.bounded(CAPACITY, Overflow.BLOCK))
          .newActor((Integer message, ActorContext<Integer> context) -> handle(context));
      ActorSystem.anonymous().newActorWithReturn((Integer count) -> {
        for (int i = 0; i < count; i++) actor.sendMessage(i);
        return count;
      }).sendMessageReturn(ROUNDS * MESSAGES).join();
      actor.close();
      System.exit(0);
    }

    private static void handle(ActorContext<?> context) {
      if (context != lastContext) activations++;
      lastContext = context;
      if (++handled % MESSAGES != 0) return;
      System.out.println(activations);
      activations = 0;
    }
  }

  /** Without turns, an activation handles the messages of a full mailbox and one more. */
  @Test
  void activationContinuesWhenItsSenderFillsMailboxAgain() {
    try (var child =
        Child.java(List.of("--add-opens=java.base/java.lang=ALL-UNNAMED", "-Dfibry.carriers=1"), Program.class)) {
      int least = child.awaitExit(0).lines().mapToInt(Integer::parseInt).min().orElseThrow();

      assertTrue(least < MESSAGES / (CAPACITY + 1) / 4, () -> "at least " + least + " activations in a round");
    }
  }
}
