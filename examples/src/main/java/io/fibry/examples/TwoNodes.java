package io.fibry.examples;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import java.time.Duration;

/** An actor that moves to another node. On several machines, only the network object differs. */
class TwoNodes {
  record Where() implements Request<Where, String> {}

  static void host(Cluster node) {
    node.host("guest", Where.class, ActorSystem.anonymous(), Duration.ofMinutes(1),
        (builder, key) -> builder
            .newActor((Where where, ActorContext<Where> context) -> context.reply(where, node.self().name())));
  }

  public static void main(String[] args) {
    var network = MemoryNetwork.create(); // or NatsNetwork.connectTo("nats://n1:4222,nats://n2:4222")
    try (var front = Cluster.join("hotel", network, options -> options.withNode("front"));
        var second = Cluster.join("hotel", network, options -> options.withNode("second"))) {
      var ada = front.entities("guest", Where.class).actor("ada"); // on whichever node she lives
      try (var first = Cluster.join("hotel", network, options -> options.withNode("first"))) {
        host(first);
        System.out.println("ada lives on " + ada.ask(new Where()));
        host(second);
      } // first leaves, and its keys move
      System.out.println("ada lives on " + ada.ask(new Where()));
    }
  }
}
