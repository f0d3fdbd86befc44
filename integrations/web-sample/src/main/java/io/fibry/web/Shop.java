package io.fibry.web;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.flow.TimeLimit;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpException;
import io.fibry.pubsub.Topic;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A shop that takes orders and publishes news. It knows no web server: the servers of this module
 * call the same methods, on the threads of their requests.
 */
final class Shop {
  static final int MAX_QUEUED = 20;
  static final Duration WRITE_LIMIT = Duration.ofSeconds(30);
  static final Duration PING_PERIOD = Duration.ofSeconds(15);
  private static final int MAX_UNSENT = 1_000; // news for one client
  private static final Duration GOODBYE_LIMIT = Duration.ofSeconds(2); // for the last news of all clients
  private static final Object PING = new Object();

  private final ActorScope scope;
  private final Topic<String> news;
  private final ActorWithReturn<String, String> clerk;
  private final ActorScope subscribers; // the newest member of the scope, so it ends first
  private final AtomicInteger subscriberCount = new AtomicInteger();

  /** A client of the news. Both methods return when the server has written to the client. */
  interface Client {
    void send(String text) throws Exception;

    /** Writes something that the client ignores, to find out whether it is still connected. */
    void ping() throws Exception;
  }

  Shop(ActorScope scope, Warehouse warehouse) {
    this.scope = scope;
    news = Topic.open(scope.named("news"));
    clerk = scope.named("clerk").mailbox(Mailbox.bounded(MAX_QUEUED, Overflow.REJECT))
        .newActorWithReturn((String item) -> {
          var receipt = warehouse.fetch(item);
          news.publish("sold: " + item);
          return receipt;
        });
    subscribers = scope.openScope("subscribers");
  }

  /** Returns the receipt. Throws a RequestException if the clerk refuses or is late. */
  String order(String item) {
    return clerk.ask(item);
  }

  /**
   * Returns a new actor that writes the news to a client. It ends when a write fails or takes too
   * long, and when the news end. A slow client misses the oldest news, and delays no other client.
   */
  Exitable subscribe(Client client) {
    var builder = TimeLimit.around(subscribers.anonymous(), WRITE_LIMIT)
        .mailbox(Mailbox.bounded(MAX_UNSENT, Overflow.DROP_OLDEST)).onFailure(FailurePolicy.stop().withoutLog());
    Actor<Object> subscriber;
    try {
      subscriber = builder.newActor((Object message) -> {
        if (message == PING) client.ping();
        else client.send((String) message);
      });
    } catch (IllegalStateException closed) {
      throw new HttpException(503, "the shop is closing");
    }
    subscriber.sendMessageEvery(PING, PING_PERIOD);
    news.subscribe(subscriber);
    subscriberCount.incrementAndGet();
    subscriber.closeOnExit(subscriberCount::decrementAndGet);
    return subscriber;
  }

  /** Returns the number of clients that get all further news. */
  int subscriberCount() {
    return subscriberCount.get();
  }

  /** Ends all subscribers, after they have written the news that were published. */
  void endNews() {
    subscribers.closeWithin(GOODBYE_LIMIT);
  }

  /**
   * Closes the shop in the order in which nothing is lost. Streams end first, because the server
   * would wait for them; the actors end last, because running requests ask them.
   *
   * @param drainServer ends the server, and returns when its running requests have their responses
   */
  void close(Runnable drainServer) {
    endNews();
    drainServer.run();
    scope.close();
  }

  ActorScope.Report report() {
    return scope.report();
  }
}
