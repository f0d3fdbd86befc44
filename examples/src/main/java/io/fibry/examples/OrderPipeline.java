package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.flow.Pipeline;
import java.util.concurrent.atomic.AtomicInteger;

/** A pipeline of three parallel stages. The slow stage has four workers. */
class OrderPipeline {
  record Order(int number, String item) {}

  record Priced(Order order, int cents) {}

  public static void main(String[] args) {
    var atOnce = new AtomicInteger();
    var maxAtOnce = new AtomicInteger();
    var sum = new AtomicInteger();
    var lastNumber = new AtomicInteger();
    ActorSystem.configure(options -> options.withDeadLetterListener(letter -> System.out.println(
        letter.actor() + " could not do '" + letter.message() + "': " + letter.cause().orElseThrow().getMessage())));

    var lines =
        Pipeline.of(ActorSystem.named("orders").onFailure(FailurePolicy.resume().withoutLog()), OrderPipeline::parse)
            .then(4, order -> { // four at once, passed on in order
              maxAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
              Thread.sleep(5); // calls another service
              atOnce.decrementAndGet();
              return new Priced(order, 100 + order.item().length());
            })
            .into(priced -> {
              if (priced.order().number() <= lastNumber.getAndSet(priced.order().number()))
                System.out.println("out of order");
              sum.addAndGet(priced.cents());
            });

    // sendMessage waits while the pipeline is full
    for (int i = 1; i <= 200; i++) lines.sendMessage(i == 100 ? "nonsense" : i + ";hat");
    lines.close(); // waits until the pipeline is empty

    System.out.println("199 orders, " + sum + " cents, " + maxAtOnce + " priced at once");
  }

  private static Order parse(String line) {
    var fields = line.split(";");
    if (fields.length != 2) throw new IllegalArgumentException("2 fields needed, not " + fields.length);
    return new Order(Integer.parseInt(fields[0]), fields[1]);
  }
}
