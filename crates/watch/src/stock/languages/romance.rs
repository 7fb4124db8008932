//! French, Italian, Romanian.

use super::Class::*;
use super::Language;

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "French",
        denials_agree: true,
        words: &[
            (
                In,
                "en stock|de retour en stock|de nouveau en stock|a nouveau en stock|encore en stock|stock disponible|disponible en stock|en magasin|dispo en magasin|expedie sous|derniers exemplaires|dernier exemplaire|dernieres pieces|derniere piece|stock limite|stock faible|pret a expedier|reapprovisionne*",
            ),
            (
                WeakIn,
                "disponible|disponibles|de nouveau disponible|de nouveau disponibles|a nouveau disponible|a nouveau disponibles|dispo|livrable|livrables",
            ),
            (
                Out,
                "rupture de stock|en rupture|en rupture de stock|rupture|epuise|epuisee|epuises|epuisees|stock epuise|hors stock|sold out|hors de stock|aucun stock|victime de son succes|precommande|precommander|en precommande|plus de stock|sans stock|en cours de reapprovisionnement|en reapprovisionnement|reapprovisionnement en cours|non stocke|discontinue|out of stock",
            ),
            (WeakOut, "indisponible|indisponibles|non disponible|non disponibles|pas disponible"),
            (
                Label,
                "stock|stocks|disponibilite|disponibilites|quantite disponible|quantite en stock|etat du stock|niveau de stock|disponibilite en stock",
            ),
            (
                Left,
                "plus que|il ne reste que|ne reste que|ne reste plus que|n'en reste que|n'en reste plus que|n'y a plus que|il reste|il en reste|reste|restent|restant|restants|restante|restantes|encore",
            ),
            (
                Count,
                "article|articles|exemplaire|exemplaires|piece|pieces|unite|unites|produit|produits|pc|pcs|paire|paires|billet|billets|place|places|taille|tailles|cet article|ce produit|l'article|le produit",
            ),
            (Time, "jour|jours|heure|heures|h|minutes|semaine|semaines|mois|jours ouvres|j"),
            (
                Not,
                "pas|plus|n'est|n'est pas|n'est plus|n'est pas encore|ne sont|n'est actuellement|n'est malheureusement|n'etait|jamais|ni|non|guere|pas encore|ne|n'a|n'y a|n'est donc|ne se trouve",
            ),
            (NoneOf, "aucun|aucune|zero|sans|nul|rien|pas de|plus de|plus aucun|pas un"),
            (Be, "est|sont"),
            (Yes, "oui|ouais|bien sur|si"),
            (
                No,
                "non|aucun|aucune|zero|pas du tout|malheureusement non|malheureusement pas|helas non|pas encore|pas|plus|plus maintenant|nul",
            ),
            (
                Offer,
                "m'avertir|me prevenir|m'informer|prevenez moi|avertissez moi|prevenez|informez moi|m'alerter|alertez moi|alerte|alertes|etre alerte|etre averti|etre prevenu|etre informe|soyez prevenu|soyez informe|soyez averti|soyez alerte|notifiez moi|notification|notifier|me notifier|recevoir un e mail|recevoir un mail|recevoir un email|envoyez moi|par e mail|par mail|par email|prevenir|avertir|liste d'attente|inscrivez vous|s'inscrire|rappel|me tenir|tenez moi",
            ),
            (
                Condition,
                "quand|si|lorsque|lorsqu'il|lorsqu'elle|lorsqu'ils|des que|des qu'il|des qu'elle|des qu'ils|des son|des leur|s'il|s'ils|s'il est|jusqu'a|tant que|a moins|avant|aussitot que|une fois|lors|lors de",
            ),
            (
                Future,
                "bientot|prochainement|sera|seront|prevu|prevue|prevus|attendu|attendue|attendus|va etre|a venir|sous peu|arrive|arrivage|d'ici|devrait|devraient|prochain|prochaine|reassort|plus tard|ulterieurement",
            ),
            (Past, "etait|etaient|a ete|ete|fut|avait|precedemment|auparavant|autrefois|anciennement|derniere fois"),
            (
                Now,
                "maintenant|actuellement|aujourd'hui|desormais|enfin|immediatement|en ce moment|a present|des maintenant|pour le moment|de suite",
            ),
            (Almost, "presque|quasi|quasiment|bientot|pratiquement|a peine"),
            (
                Doubt,
                "peut etre|eventuellement|probablement|sur demande|sur commande|habituellement|generalement|souvent|parfois|nous consulter|contactez nous|verifier|verifiez|inconnu|inconnue|appelez|il se peut|pourrait|variable|pas tous|pas toutes|rarement",
            ),
            (
                Related,
                "similaire|similaires|autre|autres|alternative|alternatives|vous aimerez aussi|associes|ont aussi achete|recommandes|ailleurs|accessoires|equivalent|equivalents",
            ),
            (Or, "ou|ni"),
            (But, "mais|cependant|toutefois|et|car|sauf|pourtant|neanmoins"),
            (
                From,
                "a partir du|a partir de|le|en|dans|d'ici|sous|du|au|vers|fin|debut|mi|des le|apres|pour le|courant|a compter du",
            ),
            (
                Date,
                "janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain|la semaine prochaine|le mois prochain|printemps|ete|automne|hiver|quelques jours|fin",
            ),
            (
                Neutral,
                "pas seulement|non seulement|ne manquez pas|n'attendez plus|n'attendez pas|pas de souci|pas de probleme|ajouter au panier|toujours|en ligne|notre|nos|ce|cet|cette|le|la|les|l'|plus de choix|malheureusement|je commande|achetez",
            ),
        ],
    },
    Language {
        name: "Italian",
        denials_agree: true,
        words: &[
            (
                In,
                "in stock|a magazzino|in magazzino|di nuovo in stock|di nuovo disponibile in magazzino|ultimi pezzi|ultimo pezzo|ultimi articoli|pochi pezzi|pochi pezzi rimasti|pronta consegna|in pronta consegna|disponibile in magazzino|disponibilita immediata|merce disponibile|pronto per la spedizione|disponibile a magazzino|in negozio",
            ),
            (
                WeakIn,
                "disponibile|disponibili|di nuovo disponibile|di nuovo disponibili|nuovamente disponibile|tornato disponibile|acquistabile|ordinabile",
            ),
            (
                Out,
                "esaurito|esaurita|esauriti|esaurite|non in stock|fuori stock|sold out|terminato|terminata|tutto esaurito|senza scorte|scorte esaurite|fuori produzione|preordine|preordina|preordinabile|non a magazzino|out of stock|andato a ruba|in riassortimento",
            ),
            (WeakOut, "non disponibile|non disponibili|indisponibile|indisponibili"),
            (Label, "disponibilita|stock|scorte|giacenza|magazzino|quantita disponibile|in giacenza"),
            (Left, "rimasti|rimaste|rimasto|rimangono|rimane|ne restano|restano|ne rimangono|solo piu|ancora"),
            (
                Count,
                "pezzo|pezzi|articolo|articoli|prodotto|prodotti|unita|copia|copie|paio|paia|biglietti|posti|taglia|taglie|pz|questo articolo|questo prodotto|il prodotto|l'articolo",
            ),
            (Time, "giorno|giorni|ora|ore|minuti|settimana|settimane|mese|mesi|giorni lavorativi"),
            (Not, "non|non e|non piu|non e piu|non ancora|mai|ne|neppure|neanche|non sono|nemmeno"),
            (NoneOf, "nessun|nessuna|nessuno|zero|senza|niente|nulla"),
            (Be, "e|sono"),
            (Yes, "si|certo|certamente"),
            (No, "no|nessuno|nessuna|non|zero|purtroppo no|non ancora|non piu|niente|esaurito|purtroppo"),
            (
                Offer,
                "avvisami|avvisatemi|avvisa|avviso|avvisi|notificami|notifica|notifiche|informami|fammi sapere|inviami|mandami|ricevi|ricevere|e mail|ricordami|lista d'attesa|iscriviti|allerta|alert|sarai avvisato|ti avviseremo|ti avvisiamo|avvertimi|promemoria|contattami",
            ),
            (Condition, "quando|se|appena|non appena|una volta|finche|fino a|qualora|prima|nel caso|al ritorno"),
            (
                Future,
                "presto|prossimamente|a breve|sara|saranno|previsto|prevista|previsti|atteso|attesa|in arrivo|arrivera|prossimo|prossima|tornera|torneranno|verra|dovrebbe|piu tardi|in futuro",
            ),
            (Past, "era|erano|e stato|e stata|fu|stato|stata|prima|precedentemente|in passato|ultima volta"),
            (
                Now,
                "ora|adesso|attualmente|oggi|subito|finalmente|immediatamente|al momento|in questo momento|gia|momentaneamente|da subito",
            ),
            (Almost, "quasi|praticamente|presto|sta per"),
            (
                Doubt,
                "forse|probabilmente|eventualmente|su richiesta|su ordinazione|potrebbe|puo|possono|di solito|normalmente|generalmente|a volte|contattaci|contattateci|chiedi|verifica|sconosciuta|sconosciuto|chiama|non tutti|non tutte|raramente",
            ),
            (
                Related,
                "simili|simile|altro|altra|altri|altre|alternativa|alternative|correlati|correlate|consigliati|hanno acquistato anche|altrove|accessori",
            ),
            (Or, "o|oppure|ne"),
            (But, "ma|pero|tuttavia|e|perche|eccetto|tranne|anche se"),
            (
                From,
                "da|dal|dall'|il|in|tra|fra|a partire dal|a partire da|entro|per il|a fine|a inizio|a meta|dopo|nel|dopo il",
            ),
            (
                Date,
                "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|lunedi|martedi|mercoledi|giovedi|venerdi|sabato|domenica|domani|la prossima settimana|il prossimo mese|primavera|estate|autunno|inverno|pochi giorni|fine",
            ),
            (
                Neutral,
                "non solo|non perdere|non aspettare|nessun problema|non perderti|aggiungi al carrello|acquista ora|online|questo|questa|il|la|lo|i|gli|nostro|piu di|non piu di|purtroppo|senza costi|ancora",
            ),
        ],
    },
    Language {
        name: "Romanian",
        denials_agree: true,
        words: &[
            (
                In,
                "in stoc|pe stoc|din nou in stoc|este in stoc|revenit in stoc|stoc limitat|ultimele bucati|ultimul produs|ultimele produse|stoc suficient|stoc furnizor|in magazin|stoc disponibil|ultima bucata",
            ),
            (WeakIn, "disponibil|disponibila|disponibili|disponibile|din nou disponibil|livrabil"),
            (
                Out,
                "stoc epuizat|epuizat|epuizata|epuizate|lipsa stoc|fara stoc|stoc 0|nu este in stoc|sold out|precomanda|precomenzi|vandut|stocul s a epuizat|stoc terminat|iesit din stoc",
            ),
            (WeakOut, "indisponibil|indisponibila|indisponibile|nu este disponibil|nedisponibil"),
            (Label, "stoc|stocuri|disponibilitate|cantitate disponibila|stare stoc|stocul"),
            (Left, "au mai ramas|au ramas|a mai ramas|mai sunt|ramase|ramas|mai avem"),
            (
                Count,
                "buc|bucati|bucata|produs|produse|produsul|articol|articole|exemplare|unitati|perechi|locuri|bilete|acest produs|marimi|marime",
            ),
            (Time, "zi|zile|ora|ore|minute|saptamana|saptamani|luna|luni|zile lucratoare"),
            (Not, "nu|nu este|nu e|nu mai este|nu mai|niciodata|nici|inca nu|nu sunt|nu se afla"),
            (NoneOf, "niciun|nicio|nici un|nici o|zero|fara|nimic"),
            (Be, "este|e|sunt"),
            (Yes, "da|sigur"),
            (No, "nu|niciunul|zero|inca nu|din pacate nu|nu mai|nimic"),
            (
                Offer,
                "anunta ma|anuntati ma|notifica ma|notificare|notificari|alerta|alerte|trimite mi|instiintare|informeaza ma|vreau sa fiu|voi fi|te anuntam|lista de asteptare|avertizeaza ma|aboneaza|anunt|primeste|prin email|prin e mail",
            ),
            (Condition, "cand|daca|imediat ce|de indata ce|odata ce|pana|pana cand|in caz|cat timp|inainte"),
            (
                Future,
                "in curand|curand|va fi|vor fi|urmeaza|asteptat|estimat|estimata|va reveni|soseste|vine|urmatoare|urmatorul|revine|in tranzit|mai tarziu",
            ),
            (Past, "era|erau|a fost|au fost|fusese|anterior|inainte|ultima data"),
            (Now, "acum|momentan|in prezent|azi|astazi|imediat|in sfarsit|in acest moment|deja|actualmente"),
            (Almost, "aproape|pe cale|practic"),
            (
                Doubt,
                "poate|posibil|probabil|la cerere|la comanda|de obicei|verifica|verificati|intreaba|contactati|necunoscut|uneori|sunati|nu toate|nu toti|rareori",
            ),
            (
                Related,
                "similare|similar|alte|alt|alta|altele|alternative|alternativa|asemanatoare|recomandate|accesorii",
            ),
            (Or, "sau|nici|ori"),
            (But, "dar|insa|totusi|si|pentru ca|cu exceptia|desi"),
            (From, "din|de la|pe|in|peste|incepand cu|dupa|la|de pe|la sfarsitul|la inceputul"),
            (
                Date,
                "ianuarie|februarie|martie|aprilie|mai|iunie|iulie|august|septembrie|octombrie|noiembrie|decembrie|luni|marti|miercuri|joi|vineri|sambata|duminica|maine|saptamana viitoare|luna viitoare|cateva zile",
            ),
            (
                Neutral,
                "nu doar|nu numai|nu rata|nicio problema|adauga in cos|cumpara acum|online|acest|aceasta|nostru|mai mult de|inca|din pacate",
            ),
        ],
    },
];
