package io.fibry.sample;

import io.fibry.ActorWithReturn;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * Asks the clerks. If their mailbox is full, the response is an immediate 503. If their reply is
 * late, the response is 504.
 */
@RestController
final class Orders {
  private final ActorWithReturn<Order, Receipt> clerks;

  Orders(ActorWithReturn<Order, Receipt> clerks) {
    this.clerks = clerks;
  }

  @GetMapping("/orders/{what}")
  Receipt order(@PathVariable String what) {
    return clerks.ask(new Order(what));
  }
}
