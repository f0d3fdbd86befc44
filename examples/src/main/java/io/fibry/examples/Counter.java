package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.stereotype.Stereotypes;
import java.util.stream.Stream;

/** State without locks: an actor handles one message at a time. */
class Counter {
  private int count;

  int add(Integer increment) {
    return count += increment;
  }

  public static void main(String[] args) {
    var counter = ActorSystem.anonymous().initialState(Counter::new).newActorWithReturn(Counter::add);

    var senders = Stream.generate(() -> Stereotypes.fibers().runOnce(() -> {
      for (int i = 0; i < 1000; i++) counter.sendMessage(1);
    })).limit(4).toList();
    senders.forEach(sender -> sender.waitForExit());

    System.out.println("four senders, a thousand each: " + counter.ask(0));
  }
}
