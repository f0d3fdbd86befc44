package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.FailurePolicy;
import java.util.function.UnaryOperator;

/** Two actors that ask each other do not hang: one gets an exception that names the cycle. */
class Deadlock {
  private static ActorWithReturn<String, String> ann;
  private static ActorWithReturn<String, String> bob;

  public static void main(String[] args) {
    ann = actor("ann", question -> question.equals("tea?") ? "yes" : bob.ask("what does Bob want?"));
    bob = actor("bob", question -> ann.ask("what does Ann want?"));

    try {
      System.out.println(ann.ask("lunch?"));
    } catch (AskCycleException cycle) {
      System.out.println(cycle.getMessage());
    }

    System.out.println("ann goes on: " + ann.ask("tea?"));
  }

  private static ActorWithReturn<String, String> actor(String name, UnaryOperator<String> handler) {
    return ActorSystem.named(name).onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((String question) -> handler.apply(question));
  }
}
