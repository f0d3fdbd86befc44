package io.fibry.sample;

import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.pool.Entities;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Stores a basket for each customer, which survives a restart of the shop. */
@RestController
final class Baskets {
  sealed interface Message {}

  record Add(String item) implements Message, Request<Add, Basket> {}

  record Look() implements Message, Request<Look, Basket> {}

  record Basket(List<String> items) {
    Basket with(String item) {
      return new Basket(Stream.concat(items.stream(), Stream.of(item)).toList());
    }
  }

  static final Durable<Message> BASKET =
      Durable.kind("basket", Message.class).state(new Basket(List.of()))
          .handler((basket, message, context) -> switch (message) {
            case Add add -> {
              var newBasket = basket.with(add.item());
              context.reply(add, newBasket);
              yield newBasket;
            }
            case Look look -> {
              context.reply(look, basket);
              yield basket;
            }
          });

  private final Entities<String, Message> baskets;

  Baskets(Entities<String, Message> baskets) {
    this.baskets = baskets;
  }

  /** Returns the new basket after it was stored on disk. */
  @PostMapping("/baskets/{customer}/{item}")
  Basket add(@PathVariable String customer, @PathVariable String item) {
    return baskets.actor(customer).ask(new Add(item));
  }

  @GetMapping("/baskets/{customer}")
  Basket look(@PathVariable String customer) {
    return baskets.actor(customer).ask(new Look());
  }
}
