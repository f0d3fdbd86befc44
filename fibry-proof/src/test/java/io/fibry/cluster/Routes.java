package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The connection of a machine to one of several servers, as code on the machine of the servers sees
 * it; for threads of a simulation. The other servers learn only after a delay that the machine has
 * begun or ended a subscription. Until then, their messages do not reach a new subscription, or are
 * lost at an ended subscription. All servers have the same table, store and queues.
 */
final class Routes {
  /** Receives messages, with the server that delivers them. */
  interface Reader {
    void accept(int server, WireMessage message);
  }

  // Separates the subject for an answer from the number of the server at which the asker waits
  private static final String SERVER_MARK = "@";

  private final RemoteNetwork network;
  private final List<ClusterTransport> transports; // by server
  private final int ownServer;
  private final List<DelayedLine> routes; // by server: the line by which it learns of subscriptions at other servers

  Routes(RemoteNetwork network, List<ClusterTransport> transports, int ownServer) {
    this.network = network;
    this.transports = transports;
    this.ownServer = ownServer;
    this.routes = Stream.generate(network::toServers).limit(transports.size()).toList();
  }

  private ClusterTransport ownTransport() {
    return transports.get(ownServer);
  }

  /** Returns a line for each server: messages on one line may overtake messages on another. */
  List<DelayedLine> lines(ActorScope scope) {
    return Stream.generate(() -> new DelayedLine(scope)).limit(transports.size()).toList();
  }

  void publish(WireMessage message) {
    int markIndex = message.subject().lastIndexOf(SERVER_MARK);
    if (markIndex < 0) ownTransport().publish(message);
    else transports.get(Integer.parseInt(message.subject().substring(markIndex + 1)))
        .publish(
            new WireMessage(message.subject().substring(0, markIndex), message.replyTo(), message.headers(),
                message.body()));
  }

  CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    return ownTransport().request(message, limit);
  }

  /** Subscribes; the machine's own server knows the subscription when this method returns. */
  Subscription subscribe(String subject, Optional<String> group, Reader reader) {
    var closings = new ArrayList<Runnable>();
    var isClosed = new boolean[1];
    for (int i = 0; i < transports.size(); i++) {
      int server = i;
      Consumer<WireMessage> receiver = wire -> {
        if (!isClosed[0]) reader.accept(server, withServer(wire, server));
      };
      if (server == ownServer) {
        var subscription = ownTransport().subscribe(subject, group, receiver);
        closings.addFirst(subscription::close);
      } else {
        var subscriptions = new ArrayList<Subscription>(1);
        var route = routes.get(server);
        route.add(network.subscriptionDelay(),
            () -> subscriptions.add(transports.get(server).subscribe(subject, group, receiver)));
        closings.add(() -> route.add(network.subscriptionDelay(), () -> subscriptions.forEach(Subscription::close)));
      }
    }
    return () -> {
      closings.forEach(Runnable::run);
      isClosed[0] = true;
    };
  }

  private WireMessage withServer(WireMessage wire, int server) {
    return wire.replyTo().filter(to -> !to.contains(SERVER_MARK))
        .map(to -> wire.withReplyTo(to + SERVER_MARK + server)).orElse(wire);
  }

  // ---- the table, the store and the queues of all servers

  OptionalLong create(String key, byte[] value, Duration lease) {
    return transports.getFirst().create(key, value, lease);
  }

  OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return transports.getFirst().update(key, value, version, lease);
  }

  boolean delete(String key, long version) {
    return transports.getFirst().delete(key, version);
  }

  Optional<ClusterTransport.Entry> get(String key) {
    return transports.getFirst().get(key);
  }

  Subscription watch(String prefix, Consumer<ClusterTransport.Entry> reader) {
    return transports.getFirst().watch(prefix, reader);
  }

  Store store() {
    return transports.getFirst().store();
  }

  ClusterTransport.Queue queue(String subject) {
    return transports.getFirst().queue(subject);
  }

  int maxBodyBytes() {
    return ownTransport().maxBodyBytes();
  }

  void close() {
    transports.forEach(ClusterTransport::close);
  }
}
