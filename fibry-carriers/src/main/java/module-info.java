import io.fibry.carriers.OwnCarriers;
import io.fibry.engine.carrier.CarrierProvider;
import org.jspecify.annotations.NullMarked;

/** Carriers of our own: a scheduler of virtual threads that knows actors. */
@NullMarked
module io.fibry.carriers {
  requires io.fibry;
  requires static org.jspecify;

  exports io.fibry.carriers;

  provides CarrierProvider with OwnCarriers;
}
