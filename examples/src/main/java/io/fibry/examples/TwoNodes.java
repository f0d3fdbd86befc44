package io.fibry.examples;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import java.time.Duration;

/** An actor that moves to another node. For several machines, only the network is another one. */
class TwoNodes {
  record Where() implements Request<Where, String> {}

  static void host(Cluster node) {
    node.host("guest", Where.class, ActorSystem.anonymous(), Duration.ofMinutes(1),
        (how, key) -> how
            .newActor((Where where, ActorContext<Where> context) -> context.reply(where, node.self().name())));
  }

  public static void main(String[] args) {
    var network = MemoryNetwork.create(); // or NatsNetwork.connectTo("nats://n1:4222,nats://n2:4222")
    try (var front = Cluster.join("hotel", network, options -> options.withNode("front"));
        var second = Cluster.join("hotel", network, options -> options.withNode("second"))) {
      var ada = front.entities("guest", Where.class).actor("ada"); // wherever she lives
      try (var first = Cluster.join("hotel", network, options -> options.withNode("first"))) {
        host(first);
        System.out.println("ada lives on " + ada.ask(new Where()));
        host(second);
      } // leaves: its keys move
      System.out.println("ada lives on " + ada.ask(new Where()));
    }
  }
}
