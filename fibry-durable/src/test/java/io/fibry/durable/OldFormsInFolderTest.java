package io.fibry.durable;

class OldFormsInFolderTest extends OldFormsContract {
  OldFormsInFolderTest() {
    super(FolderStores::new);
  }
}
