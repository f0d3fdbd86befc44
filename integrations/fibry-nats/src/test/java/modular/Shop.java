package modular;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.durable.Durable;
import io.fibry.nats.NatsNetwork;
import java.time.Duration;

/** A program on the class path that uses the library on the module path. */
public class Shop {
  record Buy() implements Request<Buy, Integer> {}

  static final Durable<Buy> STOCK = Durable.kind("stock", Buy.class).snapshotEvery(2).state(10)
      .handler((pieces, buy, context) -> {
        context.reply(buy, pieces - 1);
        return pieces - 1;
      });

  /** Runs the program. The arguments are its app and its server. */
  public static void main(String[] args) {
    try (
        var node =
            Cluster.join(args[0], NatsNetwork.connectTo(args[1]), options -> options.withNode("n1").withPartitions(4));
        var stock = node.host(STOCK, ActorSystem.anonymous(), Duration.ofMinutes(1))) {
      for (int i = 0; i < 5; i++) stock.actor("hat").ask(new Buy());
      System.out.println(Cluster.class.getModule() + ", " + NatsNetwork.class.getModule() + ": "
          + stock.actor("hat").ask(new Buy()));
    }
  }
}
