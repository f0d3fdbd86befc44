package io.fibry.sample;

import java.util.concurrent.atomic.AtomicLong;
import org.springframework.stereotype.Component;

/** Takes 20 ms per order, so four clerks serve 200 orders per second. */
@Component
final class SlowWarehouse implements Warehouse {
  private final AtomicLong sales = new AtomicLong();

  @Override
  public Receipt fetch(Order order) throws InterruptedException {
    Thread.sleep(20);
    return new Receipt(order.what(), sales.incrementAndGet());
  }
}
