package io.fibry.nodes;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.durable.Durable;
import io.fibry.nats.NatsNetwork;
import io.nats.client.Nats;
import java.time.Duration;

/** The remote process of {@link Measurements}: actors and a client of NATS, which reply. */
final class Echo {
  sealed interface Message {}

  record Ask(long number) implements Message, Request<Ask, Long> {}

  record Tell(String text) implements Message {}

  static final String APP = "figures";
  static final byte[] TEXT = new byte[64];
  static final Durable<Ask> COUNTER = Durable.kind("counter", Ask.class).state(0L).handler((sum, ask, context) -> {
    context.reply(ask, sum + 1);
    return sum + 1;
  });

  private Echo() {}

  /** @param args the URLs of the servers, and the number of servers */
  public static void main(String[] args) throws Exception {
    var bare = Nats.connect(args[0]);
    bare.createDispatcher(message -> bare.publish(message.getReplyTo(), message.getData())).subscribe("bare");
    bare.createDispatcher(message -> {}).subscribe("sink");
    BareSteps.receiveBundles(bare);
    var stream = bare.jetStream();
    bare.createDispatcher(message -> stream
        .publishAsync("turns." + message.getSubject().replace('.', '-'), TEXT)
        .thenRun(() -> bare.publish(message.getReplyTo(), message.getData()))).subscribe("store.*");
    var node = join(args[0], Integer.parseInt(args[1]), "there");
    node.expose("echo", Message.class, ActorSystem.anonymous().newActor(Echo::handle));
    host(node);
    node.host(COUNTER, ActorSystem.anonymous(), Duration.ofMinutes(5));
    Thread.currentThread().join(); // until this process is killed
  }

  static Cluster join(String urls, int servers, String name) {
    return Cluster.join(APP, NatsNetwork.connectTo(urls).withReplicas(servers),
        options -> options.withNode(name).withPartitions(64));
  }

  /** Hosts entities without stored state. */
  static void host(Cluster node) {
    node.host("echo", Message.class, ActorSystem.anonymous(), Duration.ofMinutes(5),
        (builder, key) -> builder.newActor(Echo::handle));
  }

  static void handle(Message message, ActorContext<Message> context) {
    if (message instanceof Ask ask) context.reply(ask, ask.number());
  }
}
