package io.fibry.sample;

import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.store.Store;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/**
 * Runs the shop. Send an order with {@code curl -i localhost:8080/orders/hat}. Overload the shop
 * with {@code ab -n 20000 -c 200 http://localhost:8080/orders/hat}, and see its actors with
 * {@code curl -H 'Accept: text/plain' localhost:8080/actuator/actors}. Put a hat into a basket with
 * {@code curl -X POST localhost:8080/baskets/ada/hat}, and restart the shop.
 * {@code curl localhost:8080/baskets/ada} then shows that the hat is still in the basket.
 */
@SpringBootApplication(proxyBeanMethods = false)
class ShopApplication {
  static final int CLERKS = 4;
  static final int MAX_QUEUED = 20;

  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  /**
   * Protects the warehouse: it serves four orders at once, up to twenty orders wait, and further
   * orders are refused. The clerks run on platform threads. On a fiber, a clerk that wakes up under
   * load would wait behind the fibers of all requests that will be refused. An order has a span,
   * which belongs to the trace of its request, although another thread handles it.
   */
  @Bean
  ActorWithReturn<Order, Receipt> clerks(ActorScope scope, Warehouse warehouse, ObservationRegistry observations) {
    return Pools
        .fixed(scope.named("clerks").strategy(Strategy.THREAD).mailbox(Mailbox.bounded(MAX_QUEUED, Overflow.REJECT)),
            CLERKS)
        .newActorWithReturn(order -> Observation.createNotStarted("warehouse.fetch", observations)
            .observeChecked(() -> warehouse.fetch(order)));
  }

  /** The baskets, in the store whose folder the property {@code fibry.store.folder} names. */
  @Bean
  Entities<String, Baskets.Message> basketActors(ActorScope scope, Store store) {
    return Baskets.BASKET.entities(scope.anonymous(), store, Duration.ofMinutes(5));
  }
}
