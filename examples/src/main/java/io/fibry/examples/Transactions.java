package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.stereotype.Stereotypes;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Messages that are sent as one block are handled without other messages in between. A failure
 * leaves the state unchanged.
 */
class Transactions {
  record Move(String from, String to, int cents) {}

  public static void main(String[] args) {
    var printed = new StringBuilder();
    var printer = ActorSystem.anonymous().newActor((String line) -> printed.append(line));
    var senders = Stream.of("a", "b", "c").map(name -> Stereotypes.fibers().runOnce(() -> {
      for (int i = 0; i < 1000; i++) printer.sendMessages(List.of("<", name, ">"));
    })).toList();
    senders.forEach(sender -> sender.waitForExit());
    printer.close();
    System.out.println("characters outside of whole blocks: " + printed.toString().replaceAll("<[abc]>", "").length());

    var bank = ActorSystem.anonymous().onFailure(FailurePolicy.resume().withoutLog())
        .initialState(() -> new TreeMap<>(Map.of("Ada", 100, "Bob", 100)))
        .rollback(accounts -> new TreeMap<>(accounts))
        .newActorWithReturn((TreeMap<String, Integer> accounts, Move move) -> {
          // rolled back if there is no account `to`
          accounts.merge(move.from(), -move.cents(), Integer::sum);
          if (accounts.computeIfPresent(move.to(), (name, cents) -> cents + move.cents()) == null)
            throw new IllegalArgumentException("no account " + move.to());
          return new TreeMap<>(accounts);
        });
    System.out.println(bank.ask(new Move("Ada", "Bob", 30)));
    try {
      bank.ask(new Move("Ada", "Eve", 50));
    } catch (IllegalArgumentException noAccount) {
      System.out.println(noAccount.getMessage());
    }
    System.out.println(bank.ask(new Move("Bob", "Ada", 10)));
  }
}
