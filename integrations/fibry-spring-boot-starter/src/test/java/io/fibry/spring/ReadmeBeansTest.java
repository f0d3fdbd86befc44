package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Runs the beans that the README and the Javadoc show; {@link ReadmeTest} compares the texts. */
class ReadmeBeansTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class));

  @Test
  void actorOfHandlerBeanAnswersRequest() {
    // with a manual clock, so that the request does not expire on a busy machine
    runner.withBean(ScopeCustomizer.class, () -> options -> options.withScheduler(new ManualScheduler()))
        .withUserConfiguration(Stock.class, Shop.class)
        .run(context -> assertEquals(new Receipt("hat", 1), context.getBean(Shop.class).order(new Order("hat"))));
  }

  @Test
  void actorBeanFromBuilderHandlesMessages() {
    runner.withUserConfiguration(Actors.class).run(context -> {
      @SuppressWarnings("unchecked") // the type that its bean method declares
      var mails = (Actor<String>) context.getBean("mails", Actor.class);

      assertTrue(mails.sendMessage("hello"));
      assertTrue(context.getBean(ActorScope.class).awaitQuiescence(Patience.LONG));
      assertEquals(1, context.getBean(ActorScope.class).report().handled());
    });
  }

  record Client(Entities<String, GuestBook.Visit> visits) {}

  @Test
  void durableEntitiesBeanKeepsCountInNextContext(@TempDir Path folder) {
    var durableRunner = runner.withConfiguration(AutoConfigurations.of(FibryStoreAutoConfiguration.class))
        .withPropertyValues("fibry.store.folder=" + folder).withUserConfiguration(GuestBook.class)
        .withBean(Client.class);

    for (int i = 1; i <= 2; i++) {
      long expected = i;
      durableRunner.run(context -> assertEquals(expected,
          context.getBean(Client.class).visits().actor("ada").ask(new GuestBook.Visit())));
    }
  }

  record Shopper(Entities<String, Shopping.Add> carts) {}

  @Test
  void clusterEntitiesBeanAnswersRequest() {
    runner.withConfiguration(AutoConfigurations.of(FibryClusterAutoConfiguration.class))
        .withBean(ClusterNetwork.class, MemoryNetwork::create).withUserConfiguration(Shopping.class)
        .withBean(Shopper.class)
        .run(context -> assertEquals(1,
            context.getBean(Shopper.class).carts().actor("ada").ask(new Shopping.Add("hat"))));
  }
}

@Configuration(proxyBeanMethods = false)
class Shopping {
  record Add(String what) implements Request<Add, Integer> {}

  static final Durable<Add> CART = Durable.kind("cart", Add.class).state(0).handler((n, add, context) -> {
    context.reply(add, n + 1);
    return n + 1;
  });

  @Bean
  Entities<String, Add> carts(Cluster cluster, ActorScope scope) {
    return cluster.host(CART, scope.anonymous(), Duration.ofMinutes(5)); // hosts some of the carts, addresses all
  }
}

// @start region="handler"
record Order(String what) {}

record Receipt(String what, int left) {}

@Component
@ActorHandler(capacity = 200)
class Stock implements Handler.Returning<Order, Receipt> {
  private final Map<String, Integer> left = new HashMap<>(Map.of("hat", 2)); // the actor's state

  @Override
  public Receipt handle(Order order) {
    return new Receipt(order.what(), left.merge(order.what(), -1, Integer::sum));
  }
}

@RestController
class Shop {
  private final ActorWithReturn<Order, Receipt> stock;

  Shop(ActorWithReturn<Order, Receipt> stock) {
    this.stock = stock;
  }

  @PostMapping("/orders")
  Receipt order(@RequestBody Order order) {
    return stock.ask(order, Duration.ofSeconds(2)); // mailbox full: 503; too late: 504
  }
}
// @end

@Configuration(proxyBeanMethods = false)
class Actors {
  @Bean
  Actor<String> mails(ActorScope scope) {
    return scope.named("mails").onFailure(FailurePolicy.restart().withBudget(5, Duration.ofMinutes(1)))
        .initialState(Outbox::new).newActor((Outbox box, String mail) -> box.add(mail));
  }

  @Bean
  ScopeCustomizer scopeCustomizer() {
    return options -> options.withFailurePolicy(FailurePolicy.restartAll())
        .withDeadLetterListener(letter -> System.err.println(letter));
  }
}

@Configuration(proxyBeanMethods = false)
class GuestBook {
  record Visit() implements Request<Visit, Long> {}

  static final Durable<Visit> VISITS = Durable.kind("visits", Visit.class).state(0L).handler((n, visit, context) -> {
    context.reply(visit, n + 1); // the answer is sent when the turn is on disk
    return n + 1;
  });

  @Bean
  Entities<String, Visit> visits(ActorScope scope, Store store) {
    return VISITS.entities(scope.anonymous(), store, Duration.ofMinutes(5));
  }
}

class Outbox {
  private final List<String> mails = new ArrayList<>();

  void add(String mail) {
    mails.add(mail);
  }
}
