package io.fibry.durable;

class OldFormsInH2Test extends OldFormsContract {
  OldFormsInH2Test() {
    super(DatabaseStores.h2());
  }
}
