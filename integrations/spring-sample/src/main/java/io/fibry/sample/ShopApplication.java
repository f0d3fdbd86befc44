package io.fibry.sample;

import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.store.Store;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/**
 * The shop. Try {@code curl -i localhost:8080/orders/hat}, then too much load with
 * {@code ab -n 20000 -c 200 http://localhost:8080/orders/hat}, then
 * {@code curl -H 'Accept: text/plain' localhost:8080/actuator/actors}. Put a hat into a basket by
 * {@code curl -X POST localhost:8080/baskets/ada/hat}, start the shop again, and see that
 * {@code curl localhost:8080/baskets/ada} still has it.
 */
@SpringBootApplication(proxyBeanMethods = false)
class ShopApplication {
  static final int AT_ONCE = 4;
  static final int WAITING = 20;

  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  /**
   * Protects the warehouse: four orders at once, twenty wait, further ones are refused. The clerks
   * have platform threads: under load, a fiber that wakes up would queue behind all the fibers of
   * requests that are about to be refused.
   */
  @Bean
  ActorWithReturn<Order, Receipt> clerks(ActorScope scope, Warehouse warehouse) {
    return Pools
        .fixed(scope.named("clerks").strategy(Strategy.THREAD).mailbox(Mailbox.bounded(WAITING, Overflow.REJECT)),
            AT_ONCE)
        .newActorWithReturn(warehouse::fetch);
  }

  /** In the store of {@code fibry.store.folder}. */
  @Bean
  Entities<String, Baskets.Message> basketActors(ActorScope scope, Store store) {
    return Baskets.BASKET.entities(scope.anonymous(), store, Duration.ofMinutes(5));
  }
}
